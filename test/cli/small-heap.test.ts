import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, expect, it } from 'vitest';
import { runJson, scratch, serve } from './command.js';

const folder = scratch();
afterAll(() => folder.remove());

const NODES = 500_000;
const uid = (i: number) => `<0x${((i % NODES) + 1).toString(16)}>`;

function* lines() {
  for (let i = 0; i < NODES; i++) {
    yield `${uid(i)} <name> "the person with the number ${i}" .\n${uid(i)} <knows> ${uid(i * 31 + 7)} .\n${uid(i)} <knows> ${uid(i * 17 + 3)} .\n`;
  }
}

it('refuses a query that would fill the heap, and answers others', { timeout: 120_000 }, async () => {
  const [file, data] = [folder.path('people.rdf'), folder.path('data')];
  await pipeline(Readable.from(lines()), createWriteStream(file));
  await runJson(['import', file, '--data', data]);
  const environment = { NODE_OPTIONS: '--max-old-space-size=160' };
  const service = await serve(['--data', data], { environment });
  const refused = expect.objectContaining({ code: 'OVERLOADED', fix: expect.stringContaining('Narrow it') });
  for (let round = 0; round < 3; round++) {
    const large = await service.query('{ q(func: has(name)) @recurse { name knows } }');
    expect(large).toMatchObject({ errors: [{ extensions: refused }] });
    const small = await service.query('{ q(func: uid(0x5)) { name knows { name } } }');
    expect(small).toMatchObject({ data: { q: [{ name: 'the person with the number 4' }] } });
  }
  expect(await service.stop()).toBe(0);
});
