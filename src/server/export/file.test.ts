import { readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { scratch } from '../../../test/cli/command.js';
import { GraphsteadError } from '../../base/index.js';
import { writeParts } from './file.js';
import type { ExportPart } from './part.js';

let folder: ReturnType<typeof scratch>;
beforeEach(() => {
  folder = scratch();
});
afterEach(() => folder.remove());

const files = () => readdirSync(folder.dir);

async function* parts(failure?: Error): AsyncIterable<ExportPart> {
  yield { file: 'graph.schema', text: 'name: string .', statements: 0 };
  yield { file: 'graph.rdf', text: '<0x1> <name> "Ann" .', statements: 1 };
  if (failure) throw failure;
}

it('leaves no file that looks whole where the export ends before its time', async () => {
  const failure = new GraphsteadError('REMOTE_REPLY', 'the service has ended', { fix: 'ask again' });
  await expect(writeParts(parts(failure), folder.dir)).rejects.toBe(failure);
  expect(files()).toEqual(['graph.schema.gz']);
});

it('says that the disk is full, and leaves nothing of the file', async () => {
  symlinkSync('/dev/full', folder.path('graph.schema.gz.partial'));
  await expect(writeParts(parts(), folder.dir)).rejects.toMatchObject({
    code: 'DISK_FULL',
    fix: expect.stringContaining(`the volume of ${folder.dir}`),
  });
  expect(files()).toEqual([]);
});

it('says what to do where its folder cannot be made', async () => {
  writeFileSync(folder.path('file'), '');
  for (const to of ['file', 'file/below']) {
    await expect(writeParts(parts(), folder.path(to))).rejects.toMatchObject({
      code: 'CONFIG',
      fix: expect.stringMatching(/^Move away the file .*name another one/),
    });
  }
});
