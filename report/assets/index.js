// Filters of the index page: by kind of outcome and by text. The page is complete without them.
"use strict";
(function () {
	const all = [...document.querySelectorAll(".finding")];
	const bar = document.querySelector(".bar");
	const count = document.getElementById("count");
	const hidden = new Set();
	const search = document.createElement("input");

	function show() {
		const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
		let n = 0;
		for (const f of all) {
			const text = f.textContent.toLowerCase();
			const on = !hidden.has(f.dataset.kind) && words.every((w) => text.includes(w));
			f.classList.toggle("hidden", !on);
			n += on;
		}
		count.textContent = n === all.length ? `${n} findings` : `${n} of ${all.length} findings`;
	}
	search.type = "search";
	search.placeholder = "filter: words of file, message, cause  ( / )";
	search.setAttribute("aria-label", "filter by text");
	search.addEventListener("input", show);
	bar.append(search);
	for (const kind of [...new Set(all.map((f) => f.dataset.kind))].sort()) {
		const b = document.createElement("button");
		b.textContent = `${kind} ${all.filter((f) => f.dataset.kind === kind).length}`;
		b.setAttribute("aria-pressed", "true");
		b.addEventListener("click", () => {
			hidden.has(kind) ? hidden.delete(kind) : hidden.add(kind);
			b.setAttribute("aria-pressed", String(!hidden.has(kind)));
			show();
		});
		bar.append(b);
	}
	document.addEventListener("keydown", (e) => {
		if (e.key === "/" && document.activeElement !== search) {
			e.preventDefault();
			search.focus();
		}
	});
	show();
})();
