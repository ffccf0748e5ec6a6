import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { testFolder } from '../folder.js';
import { run, serve } from './command.js';

const WRONG = "export function getWord(): string { return 1 + ''.lenth; }\n";
const RIGHT = "export function getWord(): string { return 'right'; }\n";

let app: string;
beforeEach(() => {
  app = testFolder();
  mkdirSync(join(app, 'functions'));
  writeFileSync(join(app, 'functions/word.ts'), WRONG);
});

// types are checked when nothing else wants the processor: beside other tests that may be long after
it('dev tells type errors and serves in spite of them; build refuses', { timeout: 600_000 }, async () => {
  const service = await serve([app], {}, 'dev');
  try {
    expect(await service.graphql('{ getWord }')).toMatchObject({ data: { getWord: 'NaN' } });
    const lines = (await service.said(/lenth/)).split('\n').filter((line) => line.startsWith('{"error"'));
    const [{ error }] = lines.map((line) => JSON.parse(line));
    expect(error).toMatchObject({
      code: 'TYPE',
      message: expect.stringMatching(/^TS\d+: .*lenth/),
      position: { source: 'functions/word.ts', line: 1 },
    });
    writeFileSync(join(app, 'functions/word.ts'), WRONG.replace('lenth', 'lengt'));
    await service.said(/'lengt'/); // each reload is checked
  } finally {
    await service.stop();
  }
  const refused = await run(['build', app]);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/^TYPE: functions\/word\.ts:1:\d+: TS\d+: .*lengt/m);
  expect((await run(['build', app, '--no-type-check'])).code).toBe(0);
  writeFileSync(join(app, 'functions/word.ts'), RIGHT);
  expect((await run(['build', app])).code).toBe(0);
});
