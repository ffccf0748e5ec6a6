import { describe, expect, it } from 'vitest';
import { encodeValue } from '../../values/index.js';
import { fingerprint, memberRank } from './fingerprint.js';

describe('the hash that orders lists for clients of Dgraph', () => {
  it('is that of another implementation, for every form that it has', () => {
    const known: readonly (readonly [text: string, hash: bigint])[] = [
      ['hello', 13009744463427800296n],
      ['hello world!', 4577883861590986596n],
      ['a'.repeat(20), 15065261471293997870n],
      ['b'.repeat(50), 10177764056713169311n],
      ['c'.repeat(200), 2595301586569255074n],
    ];
    for (const [text, hash] of known) expect(fingerprint(Buffer.from(text))).toBe(hash);
  });

  it('takes every length', () => {
    const seen = new Set<bigint>();
    for (let length = 0; length < 300; length++) seen.add(fingerprint(Buffer.alloc(length, 7)));
    expect(seen.size).toBe(300);
  });

  it('ranks members by their bytes', () => {
    const rank = (seconds: number) =>
      memberRank(encodeValue({ type: 'datetime', value: { seconds, nanos: 0, offset: 0 } }));
    expect(rank(0)).not.toBe(rank(1));
    const ranks = [1, 2, 3].map((value) => memberRank(encodeValue({ type: 'int', value })));
    expect(new Set(ranks).size).toBe(3);
  });
});
