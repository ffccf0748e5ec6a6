import { mkdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testFolder } from '../../test/folder.js';
import { findSource } from './app-source.js';
import type { AppManifest } from './contract.js';
import { readCached } from './read-cached.js';
import { ReadingThread } from './reading-thread.js';

let dir: string;
let file: string;
let thread: ReadingThread;
let readings: number;
beforeEach(() => {
  dir = testFolder();
  file = join(dir, 'index.ts');
  writeFileSync(
    file,
    "import type { Place } from './place';\nexport function getPlace(): Place { return { at: 1 }; }\n",
  );
  writeFileSync(join(dir, 'place.ts'), 'export interface Place { at: number }\n');
  thread = new ReadingThread();
  readings = 0;
});
afterEach(async () => {
  await thread.close();
});

async function read(): Promise<AppManifest> {
  const { manifest } = await readCached(findSource(dir), join(dir, 'cache'), (source) => {
    readings++;
    return thread.read(source);
  });
  return manifest;
}

const fieldsOf = ({ types }: AppManifest) => types.flatMap((type) => ('fields' in type ? type.fields : []));

describe('the cache of types', () => {
  it('goes by content, also of files that are only imported, and not by time', async () => {
    const first = await read();
    expect(first.operations.map((one) => one.name)).toEqual(['getPlace']);
    utimesSync(file, new Date(), new Date());
    expect([await read(), readings]).toEqual([first, 1]);
    writeFileSync(join(dir, 'place.ts'), 'export interface Place { at: string }\n');
    writeFileSync(file, readFileSync(file, 'utf8').replace('at: 1', "at: ''"));
    expect(fieldsOf(await read())[0].type.name).toBe('String');
    expect(readings).toBe(2);
  });

  it('is read anew when what an import means may have changed', async () => {
    await read();
    mkdirSync(join(dir, 'other'));
    writeFileSync(join(dir, 'other/place.ts'), 'export interface Place { at: boolean }\n');
    writeFileSync(file, readFileSync(file, 'utf8').replace("'./place'", "'place'"));
    const paths = (folder: string) => {
      writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions: { paths: { place: [folder] } } }));
    };
    paths('./place.ts');
    expect(fieldsOf(await read())[0].type.name).toBe('Float');
    paths('./other/place.ts');
    expect(fieldsOf(await read())[0].type.name).toBe('Boolean');
    expect(readings).toBe(3);
    renameSync(join(dir, 'tsconfig.json'), join(dir, 'tsconfig.base.json'));
    writeFileSync(join(dir, 'tsconfig.json'), '{ "extends": "./tsconfig.base.json" }');
    expect(fieldsOf(await read())[0].type.name).toBe('Boolean');
    const base = readFileSync(join(dir, 'tsconfig.base.json'), 'utf8');
    writeFileSync(join(dir, 'tsconfig.base.json'), base.replace('./other/', './'));
    expect(fieldsOf(await read())[0].type.name).toBe('Float');
    expect(readings).toBe(5);
  });

  it('holds what was read, although a file has changed again since', async () => {
    const late = readCached(findSource(dir), join(dir, 'cache'), async (source) => {
      const reading = await thread.read(source);
      writeFileSync(file, 'export function getLater(): number { return 1; }\n');
      return reading;
    });
    expect((await late).manifest.operations[0].name).toBe('getPlace');
    expect((await read()).operations[0].name).toBe('getLater');
  });
});
