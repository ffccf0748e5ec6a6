// The explorer in Debian's Chromium (apt-get install chromium): until the first paint, and a frame while a large picture moves. The
// reference is what the same browser needs for next to nothing: the probe's few bytes, and frames of a page that stands still.
import { chromium } from 'playwright-core';
import { middle, n, startService } from './service.mjs';

export const name = 'The explorer: first paint, and 5,000 nodes that move (goals: 1 s, and no jerks)';
export const onlyNamed = true;

const VISITS = 7;
const NODES = 5_000;
/** the layout runs this long at most */
const LAYOUT_MS = 11_000;

const PAINT = `performance.getEntriesByName('first-contentful-paint')[0]?.startTime`;
const FRAMES = `new Promise((resolve) => {
  const times = [];
  let last = performance.now();
  const begin = last;
  const step = (now) => {
    times.push(now - last);
    last = now;
    if (now - begin < 3000) requestAnimationFrame(step);
    else resolve(times.slice(1));
  };
  requestAnimationFrame(step);
})`;

const launch = () =>
  chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  });

async function paint(page, address) {
  await page.goto(address);
  for (;;) {
    const ms = await page.evaluate(PAINT);
    if (ms !== undefined) return ms;
    await page.waitForTimeout(20);
  }
}

async function paints(browser, url) {
  const [bare, cold, warm] = [[], [], []];
  for (let i = 0; i < VISITS; i++) {
    const context = await browser.newContext();
    const page = await context.newPage();
    bare.push(await paint(page, `${url}/health`));
    cold.push(await paint(page, `${url}/explorer#query`));
    await page.goto('about:blank');
    warm.push(await paint(page, `${url}/explorer#query`));
    await context.close();
  }
  return { bare: middle(bare), cold: middle(cold), warm: middle(warm) };
}

async function frames(browser, url) {
  const post = (path, type, body) => fetch(url + path, { method: 'POST', headers: { 'content-type': type }, body });
  await post('/alter', 'text/plain', 'big.name: string @index(exact) .\nbig.edge: [uid] .');
  const lines = Array.from(
    { length: NODES },
    (_, i) => `_:n${i} <big.name> "node ${i}" . _:n${i} <big.edge> _:n${Math.floor(i / 3)} .`,
  );
  await post('/mutate?commitNow=true', 'application/rdf', `{ set {\n${lines.join('\n')}\n} }`);
  const page = await browser.newPage({ viewport: { width: 1360, height: 850 } });
  await page.goto(`${url}/explorer#query`);
  await page.getByRole('tab', { name: 'Picture' }).click();
  const still = await page.evaluate(FRAMES);
  const text = `{ q(func: has(big.name), first: ${NODES}) { uid big.name big.edge { uid big.name } } }`;
  await page.getByRole('textbox', { name: 'Graph language' }).fill(text);
  await page.keyboard.press('Control+Enter');
  await page.getByText('5,000 nodes', { exact: false }).waitFor();
  await page.waitForTimeout(LAYOUT_MS);
  await page.mouse.move(1_000, 400);
  const zooming = page.evaluate(FRAMES);
  for (let i = 0; i < 40; i++) await page.mouse.wheel(0, i % 10 < 5 ? -120 : 120);
  const zoom = await zooming;
  const panning = page.evaluate(FRAMES);
  await page.mouse.down();
  for (let i = 0; i < 60; i++) await page.mouse.move(1_000 + 8 * (i % 10), 400 + 6 * (i % 7));
  await page.mouse.up();
  return { still, zoom, pan: await panning };
}

const spread = (times) => {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (share) => n(sorted[Math.floor((sorted.length - 1) * share)], 1);
  return `median ${at(0.5)}, 95% within ${at(0.95)}, worst ${at(1)} ms a frame`;
};

export async function run(report) {
  const service = await startService({ args: ['--explorer'] });
  const browser = await launch();
  try {
    await fetch(`${service.url}/explorer`); // in a clone the first request bundles the page
    const { bare, cold, warm } = await paints(browser, service.url);
    report('first contentful paint of the probe, the browser alone', `${n(bare)} ms`);
    report('first contentful paint of the explorer, nothing cached', `${n(cold)} ms`);
    report('... visited before', `${n(warm)} ms`);
    const { still, zoom, pan } = await frames(browser, service.url);
    report('frames of the page at rest', spread(still));
    report(`zooming ${n(NODES)} nodes and edges, drawn by software`, spread(zoom));
    report('panning them', spread(pan));
  } finally {
    await browser.close();
    await service.stop();
  }
}
