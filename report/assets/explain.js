(function () {
	'use strict';
	var $ = function (q, r) { return Array.prototype.slice.call((r || document).querySelectorAll(q)); };
	var root = document.documentElement, panel = document.getElementById('source'), find = document.getElementById('find');
	var hiddenThreads = {};

	function flowsOf(ev) {
		return FLOWS.filter(function (f) { return f.from === ev.id || f.to === ev.id; });
	}
	function draw() {
		$('.lanes').forEach(function (box) {
			var svg = box.querySelector('svg.flow'), frame = box.getBoundingClientRect(), used = 0;
			svg.textContent = '';
			FLOWS.forEach(function (f) {
				var a = document.getElementById(f.from), b = document.getElementById(f.to);
				if (!a || !b || !box.contains(b) || a.classList.contains('hidden') || b.classList.contains('hidden')) return;
				var ra = a.getBoundingClientRect(), rb = b.getBoundingClientRect(), bend = 10 + 6 * (used++ % 4);
				var x1 = ra.right - frame.left, y1 = ra.bottom - frame.top - 8, x2 = rb.right - frame.left, y2 = rb.top - frame.top + 8;
				var x = Math.max(x1, x2) + bend, p = document.createElementNS('http://www.w3.org/2000/svg', 'path');
				p.setAttribute('d', 'M' + x1 + ' ' + y1 + ' C' + x + ' ' + y1 + ' ' + x + ' ' + y2 + ' ' + x2 + ' ' + y2 + ' l7 -4 m-7 4 l7 4');
				p.setAttribute('stroke', f.failing ? 'var(--bad)' : 'var(--good)');
				p.dataset.from = f.from; p.dataset.to = f.to;
				svg.appendChild(p);
			});
		});
	}
	function show(ev) {
		$('.ev.sel,.ev.linked').forEach(function (e) { e.classList.remove('sel', 'linked'); });
		$('svg.flow path').forEach(function (p) { p.classList.remove('on'); });
		panel.textContent = '';
		if (!ev) return;
		ev.classList.add('sel');
		flowsOf(ev).forEach(function (f) {
			[f.from, f.to].forEach(function (id) { var e = document.getElementById(id); if (e) e.classList.add('linked'); });
			$('svg.flow path').forEach(function (p) { if (p.dataset.from === f.from && p.dataset.to === f.to) p.classList.add('on'); });
		});
		var twin = document.getElementById(ev.dataset.twin);
		if (twin) twin.classList.add('linked');
		if (!ev.dataset.excerpt) return;
		var pre = document.createElement('pre'), n = +ev.dataset.first, at = +ev.dataset.line;
		var head = document.createElement('div');
		head.className = 'dim';
		head.textContent = ev.dataset.file + ' in ' + ev.dataset.function;
		ev.dataset.excerpt.split('\n').forEach(function (text, i) {
			var line = document.createElement('span');
			line.textContent = String(n + i).padStart(5) + '  ' + text + '\n';
			if (n + i === at) line.className = 'at';
			pre.appendChild(line);
		});
		panel.appendChild(head);
		panel.appendChild(pre);
	}
	function filter() {
		var word = find.value.toLowerCase();
		$('.ev').forEach(function (e) {
			var text = (e.dataset.object + ' ' + e.textContent).toLowerCase();
			e.classList.toggle('hidden', !!hiddenThreads[e.dataset.thread] || (word && text.indexOf(word) < 0));
		});
		draw();
	}
	function step(by) {
		var all = $('.ev:not(.hidden)'), i = all.indexOf(document.activeElement);
		var next = all[Math.min(all.length - 1, Math.max(0, i < 0 ? 0 : i + by))];
		if (next) next.focus();
	}
	function other() {
		var e = document.activeElement, twin = e && document.getElementById(e.dataset.twin || '');
		if (twin) { twin.focus(); return; }
		var pane = e && e.closest && e.closest('.pane'), side = $('.pane').filter(function (p) { return p !== pane; })[0];
		var first = side && side.querySelector('.ev:not(.hidden)');
		if (first) first.focus();
	}
	$('.ev').forEach(function (e) {
		e.addEventListener('focus', function () { show(e); });
		e.addEventListener('mouseenter', function () { show(e); });
		e.addEventListener('click', function () { e.focus(); });
	});
	$('button[data-thread]').forEach(function (b) {
		b.addEventListener('click', function () {
			var off = b.getAttribute('aria-pressed') === 'true';
			b.setAttribute('aria-pressed', String(!off));
			hiddenThreads[b.dataset.thread] = off;
			filter();
		});
	});
	document.getElementById('theme').addEventListener('click', function () {
		var dark = root.classList.contains('dark') || (!root.classList.contains('light') && matchMedia('(prefers-color-scheme: dark)').matches);
		root.classList.remove('dark', 'light');
		root.classList.add(dark ? 'light' : 'dark');
	});
	find.addEventListener('input', filter);
	document.addEventListener('keydown', function (k) {
		if (k.target === find) { if (k.key === 'Escape') { find.value = ''; filter(); find.blur(); } return; }
		if (k.ctrlKey || k.metaKey || k.altKey) return;
		if (k.key === 'j' || k.key === 'ArrowDown') { step(1); k.preventDefault(); }
		else if (k.key === 'k' || k.key === 'ArrowUp') { step(-1); k.preventDefault(); }
		else if (k.key === 'h' || k.key === 'l' || k.key === 'ArrowLeft' || k.key === 'ArrowRight') { other(); k.preventDefault(); }
		else if (k.key === '/') { find.focus(); k.preventDefault(); }
		else if (k.key === 't') document.getElementById('theme').click();
		else if (k.key === 'Escape') show(null);
	});
	window.addEventListener('resize', draw);
	window.addEventListener('load', draw);
	draw();
})();
