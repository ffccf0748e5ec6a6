// Agents' events as a page of another site reads them: by a browser's own EventSource, with a key that may stand in a page.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '../free-port.js';
import { startService, type TestService } from '../service.js';
import { launch, WAIT_MS } from './page.js';

const appDir = join(import.meta.dirname, '../../examples/mission-control');
const environment = { GRAPHSTEAD_API_KEYS: 'whole', GRAPHSTEAD_CLIENT_KEYS: 'page' };
const data = mkdtempSync(join(tmpdir(), 'graphstead-event-source-'));

let browser: Browser;
let site: Server;
let page: Page;
let service: TestService;
beforeAll(async () => {
  browser = await launch();
  site = createServer((_, response) =>
    response.setHeader('content-type', 'text/html').end('<title>another site</title>'),
  );
  await new Promise<void>((listening) => site.listen(0, '127.0.0.1', listening));
  page = await browser.newPage();
  page.setDefaultTimeout(WAIT_MS);
  await page.goto(`http://localhost:${(site.address() as AddressInfo).port}`);
});
afterAll(async () => {
  await browser.close();
  site.close();
  await service.close();
  rmSync(data, { recursive: true, force: true });
});

const start = (port: number) => startService({ appDir, data, host: '0.0.0.0', port, environment });
const portOf = ({ url }: TestService) => Number(new URL(url).port);

async function ask(query: string): Promise<Record<string, string>> {
  const answer = await fetch(`http://127.0.0.1:${portOf(service)}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'page' },
    body: JSON.stringify({ query }),
  });
  return ((await answer.json()) as { data: Record<string, string> }).data;
}

interface Heard {
  readonly id: string;
  readonly name: string;
}

/** What the page has heard so far. It keeps it under a name of its own, since it lives on while the service is started anew. */
const heard = () => page.evaluate<Heard[]>('window.heard');
/** what a report of something unusual makes the agent publish; the first one begins its mission */
const REPORTED = ['ai_analysis_started', 'agent_threat_detected', 'surveillance_progress'];

const heardSoFar = (least: number) => page.waitForFunction(`window.heard.length >= ${least}`);

it('reads them in order, and goes on by itself where the service was started anew', async () => {
  const port = await freePort();
  service = await start(port);
  const { deployAgent: id } = await ask('mutation { deployAgent }');
  const query = `subscription { agentEvent(agentId: "${id}") { name } }`;
  const url = `http://127.0.0.1:${port}/graphql?${new URLSearchParams({ query, apiKey: 'page' })}`;
  await page.evaluate(`new Promise((open, refused) => {
    window.heard = [];
    const source = new EventSource(${JSON.stringify(url)});
    source.onopen = open;
    source.onerror = refused;
    source.addEventListener('next', ({ data, lastEventId }) => {
      window.heard.push({ id: lastEventId, name: JSON.parse(data).data.agentEvent.name });
    });
  })`);
  const report = (text: string) => ask(`mutation { importActivity(agentId: "${id}", activityData: "${text}") }`);
  await report('Unusual traffic');
  await heardSoFar(1 + REPORTED.length);
  const first = await heard();
  expect(first.map(({ name }) => name)).toEqual(['mission_started', ...REPORTED]);

  await service.close();
  service = await start(port);
  // before the browser comes back: it asks for what it missed by the last id that it has
  await report('More unusual traffic');
  await heardSoFar(first.length + REPORTED.length);
  const all = await heard();
  expect(all.slice(0, first.length)).toEqual(first);
  expect(new Set(all.map(({ id: one }) => one)).size).toBe(all.length);
  expect(all.slice(first.length).map(({ name }) => name)).toEqual(REPORTED);
});
