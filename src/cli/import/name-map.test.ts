import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { testFolder } from '../../../test/folder.js';
import { NameMap } from './name-map.js';

let folder: string;
let next: number;
beforeEach(() => {
  folder = testFolder();
  next = 1;
});

const lease = async (count: number) => {
  next += count;
  return next - count;
};
const journal = () => join(folder, 'a.names');

describe('names of an import', () => {
  it('keep their uids over a restart, however long they are', async () => {
    const names = new NameMap(lease, journal());
    await names.reserve(3);
    const long = `http://example.org/${'x'.repeat(40)}`;
    const given = [names.blank('a'), names.uid(long), names.blank('a'), names.uid('_:a')];
    expect(given).toEqual([1, 2, 1, 1]);
    names.flush();
    const again = new NameMap(lease, journal());
    await again.reserve(1);
    expect([again.uid(long), again.blank('a'), again.size]).toEqual([2, 1, 2]);
    expect(again.blank('b')).toBeGreaterThan(2);
    expect(readFileSync(journal(), 'utf8').split('\n')).toContain('1 _:a');
  });

  it.each(['1 _:a\n2 _:ab\n', '1 _:a\n2 _:ab\n3 ', '1 _:a\n2 _:ab\n3 _:a', '1 _:a\n2 _:ab\n3'])(
    'are not taken from a last line that a kill cut short (%j)',
    async (left) => {
      writeFileSync(journal(), left);
      next = 4;
      const opened = async () => {
        const names = new NameMap(lease, journal());
        await names.reserve(1);
        return names;
      };
      const names = await opened();
      expect([names.blank('a'), names.blank('ab'), names.size, names.blank('abc')]).toEqual([1, 2, 2, 4]);
      names.flush();
      const again = await opened();
      expect([again.blank('a'), again.blank('ab'), again.blank('abc'), again.size]).toEqual([1, 2, 4, 3]);
    },
  );

  it('are read from a long journal piece by piece: none is cut where one ends', async () => {
    // of several bytes a character, and of lengths that meet the end of a piece anywhere
    const nameOf = (n: number) => `_:${'ü€😀'.repeat(n % 97)}${n}`;
    const lines = Array.from({ length: 40_000 }, (_, n) => `${(n + 1).toString(16)} ${nameOf(n)}\n`).join('');
    expect(Buffer.byteLength(lines)).toBeGreaterThan(3 * 4 * 1024 * 1024);
    writeFileSync(journal(), `${lines}9c41 _:cut`);
    next = 50_000;
    const names = new NameMap(lease, journal());
    await names.reserve(1);
    expect(names.size).toBe(40_000);
    for (let n = 0; n < 40_000; n++) if (names.uid(nameOf(n)) !== n + 1) expect.fail(`${nameOf(n)} is another node`);
    expect(names.uid('_:cut')).toBe(50_000);
    expect(readFileSync(journal(), 'utf8')).toBe(lines);
  });

  it('are not given what the file names itself', async () => {
    const names = new NameMap(lease);
    await names.reserve(10);
    names.avoid(1);
    expect(names.blank('a')).toBe(2);
    names.avoid(7);
    names.avoid(10 ** 9);
    expect(names.blank('b')).toBe(8);
  });
});
