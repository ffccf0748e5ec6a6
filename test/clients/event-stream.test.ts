// Agents' events as curl prints them and as graphql-sse's client hands them out; a browser's EventSource has test/browser.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createClient } from 'graphql-sse';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../service.js';

let s: TestService;
let id: string;
beforeAll(async () => {
  s = await startService({ appDir: join(import.meta.dirname, '../../examples/mission-control') });
  id = (await s.graphql('mutation { deployAgent }')).body.data.deployAgent;
});
afterAll(() => s.close());

const report = () => s.graphql(`mutation { importActivity(agentId: "${id}", activityData: "Unusual traffic") }`);
const EVENTS = 'subscription ($id: String) { agentEvent(agentId: $id) { name data timestamp } }';

describe('curl -N', () => {
  const isThere = spawnSync('curl', ['--version']).status === 0;

  // a machine without curl has nothing to try it with; .ci/run installs it
  it.skipIf(!isThere)('prints the head at once, and each event when it is published', async () => {
    const headers = ['content-type: application/json', 'accept: text/event-stream'].flatMap((header) => ['-H', header]);
    const body = JSON.stringify({ query: EVENTS, variables: { id } });
    const curl = spawn('curl', ['-sNi', ...headers, '-d', body, `${s.url}/graphql`]);
    let printed = '';
    // one listener for all: what comes while there is none is gone
    curl.stdout.on('data', (piece) => {
      printed += String(piece);
    });
    const until = async (pattern: RegExp) => {
      while (!pattern.test(printed)) await once(curl.stdout, 'data');
    };
    await until(/\r\n\r\n/);
    expect(printed).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(printed).toMatch(/^content-type: text\/event-stream/m);
    await report();
    await until(/surveillance_progress.*\n\n/);
    curl.kill();
    const frames = printed.split('\n\n').filter((frame) => frame.includes('event: '));
    expect(frames.length).toBeGreaterThan(1);
    for (const frame of frames)
      expect(frame).toMatch(/event: next\nid: [^.\n]+\.\d+\.\d+\ndata: \{"data":\{"agentEvent":\{.*$/);
  });
});

describe("graphql-sse's client", () => {
  it('hands out an event as soon as it is published', async () => {
    const client = createClient({ url: `${s.url}/graphql`, retryAttempts: 0 });
    type Told = { agentEvent: { name: string; data: Record<string, unknown>; timestamp: string } };
    const query = EVENTS.replace('agentId: $id', 'agentId: $id, after: "0"');
    const stream = client.iterate<Told>({ query, variables: { id } });
    await report();
    const names: (string | undefined)[] = [];
    while (!names.includes('surveillance_progress')) names.push((await stream.next()).value?.data?.agentEvent.name);
    expect(names[0]).toBe('mission_started');
    await stream.return?.();
    client.dispose();
  });
});
