// A page of the explorer in Debian's Chromium, watched: what it says on its console and where it asks.
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const SHOTS = join(ROOT, 'test-artefacts');
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** for one thing on a page to come */
export const WAIT_MS = 100_000;

export type Scheme = 'light' | 'dark';

export interface Watched {
  readonly page: Page;
  /** errors of the console, exceptions, and requests that leave the service */
  readonly problems: readonly string[];
  shot(name: string): Promise<void>;
  /** Fails on serious and critical violations, with their places. */
  axe(): Promise<void>;
  close(): Promise<void>;
}

/** Plain Chromium, as a package manager brings it: no download of its own, no account, no updates. */
export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

export async function open(browser: Browser, url: string, hash: string, scheme: Scheme = 'light'): Promise<Watched> {
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport: { width: 1360, height: 850 },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`exception: ${error.message}`));
  page.on('request', (request) => {
    const asked = request.url();
    if (!asked.startsWith(url) && !/^(data|blob):/.test(asked)) problems.push(`outside: ${asked}`);
  });
  await page.goto(`${url}/explorer#${hash}`);
  return {
    page,
    problems,
    async shot(name) {
      mkdirSync(SHOTS, { recursive: true });
      await page.screenshot({ path: join(SHOTS, `${name}-${scheme}.png`) });
    },
    async axe() {
      await page.evaluate(await readFile(AXE, 'utf8'));
      expect(await page.evaluate(violated)).toEqual([]);
    },
    close: () => context.close(),
  };
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
  }[];
}

/** Runs in the page. */
async function violated(): Promise<string[]> {
  const { axe } = globalThis as unknown as { axe: { run(options: unknown): Promise<AxeResult> } };
  const { violations } = await axe.run({ resultTypes: ['violations'] });
  return violations
    .filter(({ impact }) => impact !== 'minor')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`),
    );
}
