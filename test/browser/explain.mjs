// test/browser/explain.mjs PAGE SHOTS - use the explain page as a person would, in a real browser. TAP.
import { chromium } from 'playwright-core';

const [page_path, shots] = process.argv.slice(2);
const browser = await chromium.launch({
	executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
	args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
		'--disable-component-update', '--disable-sync'],
});
let bad = 0;
const is = (ok, what) => { console.log(`${ok ? 'ok' : 'not ok'} - ${what}`); if (!ok) bad++; };

const page = await browser.newPage({ viewport: { width: 1300, height: 850 } });
const problems = [], requests = [];
page.on('pageerror', (e) => problems.push(String(e)));
page.on('console', (m) => { if (m.type() === 'error') problems.push(m.text()); });
page.on('request', (r) => { if (!r.url().startsWith('file:')) requests.push(r.url()); });
await page.goto('file://' + page_path);

is(problems.length === 0, 'no script errors' + (problems.length ? ': ' + problems[0] : ''));
is(requests.length === 0, 'the page asks nothing of the network');
is(await page.locator('.pane.failing .ev').count() > 0, 'the failing schedule has events');
is(await page.locator('.ev.failure').count() >= 1, 'the failure is marked');
is(await page.locator('.facts').innerText().then((t) => /kind/.test(t) && /proof/.test(t)), 'kind and proof are stated');

await page.keyboard.press('j');
is(await page.locator('.ev:focus').count() === 1, 'j focuses an event');
await page.keyboard.press('j');
is(await page.locator('.ev.sel').count() === 1, 'one event is selected');
if (await page.locator('.pane.passing .ev').count() > 0) {
	const side = () => page.evaluate(() => document.activeElement.closest('.pane').className);
	const before = await side();
	await page.keyboard.press('l');
	is(await side() !== before, 'l goes to the other schedule');
}
const all = await page.locator('.ev:not(.hidden)').count();
const button = page.locator('button[data-thread]').first();
await button.click();
is(await page.locator('.ev:not(.hidden)').count() < all, 'a thread can be hidden');
await button.click();
is(await page.locator('.ev:not(.hidden)').count() === all, 'and shown again');
await page.keyboard.press('/');
await page.keyboard.type('no such text anywhere');
is(await page.locator('.ev:not(.hidden)').count() === 0, 'the filter hides what does not match');
await page.keyboard.press('Escape');
is(await page.locator('.ev:not(.hidden)').count() === all, 'Escape clears it');
const color = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const light = await color();
await page.keyboard.press('t');
is(await color() !== light, 't switches between light and dark');
await page.screenshot({ path: `${shots}/explain-dark.png`, fullPage: true });
await page.keyboard.press('t');
await page.locator('.ev').first().hover();
await page.screenshot({ path: `${shots}/explain-light.png`, fullPage: true });
is(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing sticks out sideways');
is(await page.evaluate(() => [...document.querySelectorAll('.pane')].every((p) => {
	const edge = p.getBoundingClientRect().right + 1;
	return [...p.querySelectorAll('.ev, .ev *')].every((e) => e.closest('.ev').getBoundingClientRect().right <= edge);
})), 'the columns do not overlap');
await page.setViewportSize({ width: 480, height: 800 });
is(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nor on a narrow screen');
await page.emulateMedia({ media: 'print' });
is(await page.locator('.bar').isHidden(), 'controls are not printed');
await browser.close();
process.exit(bad ? 1 : 0);
