// An SDK that is registered before the service starts, as the deployment guide has it: its spans are the service's.
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Running, scratch, serve } from './command.js';

const folder = scratch();
const spans = folder.path('spans.jsonl');
let service: Running;

const SETUP = `
import { appendFileSync } from 'node:fs';
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
const exporter = {
  export(spans, done) {
    for (const { name } of spans) appendFileSync(${JSON.stringify(spans)}, name + '\\n');
    done({ code: 0 });
  },
  shutdown: async () => undefined,
};
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
`;

beforeAll(async () => {
  symlinkSync(join(import.meta.dirname, '../../node_modules'), folder.path('node_modules'));
  writeFileSync(folder.path('traces.mjs'), SETUP);
  writeFileSync(spans, '');
  service = await serve([], { cwd: folder.dir, environment: { NODE_OPTIONS: '--import ./traces.mjs' } });
});
afterAll(() => folder.remove());

describe('node --import ./traces.mjs', () => {
  it('traces the service that starts in that folder', async () => {
    await service.query('{ q(func: has(name)) { name } }');
    expect(await service.stop()).toBe(0);
    expect(readFileSync(spans, 'utf8').split('\n')).toEqual(expect.arrayContaining(['dql query', 'POST /query']));
  });
});
