import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyReader, KeyWriter, prefixEnd } from './key.js';
import { compareBytes } from './order.js';

const uint = fc.oneof(
  fc.integer({ min: 0, max: 70_000 }),
  fc.maxSafeNat(),
  fc.constantFrom(0, 240, 241, 2287, 2288, 67_823, 67_824, 2 ** 24 - 1, 2 ** 24, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1),
  fc.constantFrom(2 ** 40 - 1, 2 ** 40, 2 ** 48 - 1, 2 ** 48),
);
const bytes = fc.uint8Array({ maxLength: 12 });
const zeroBytes = fc.array(fc.constantFrom(0, 1, 0xff), { maxLength: 6 }).map((list) => Uint8Array.from(list));

describe('keys', () => {
  const writer = new KeyWriter('graph');

  it('order as the numbers in them do, and read back', () => {
    fc.assert(
      fc.property(uint, uint, (a, b) => {
        const [left, right] = [writer.uint(a).key(), writer.uint(b).key()];
        expect(Math.sign(compareBytes(left, right))).toBe(Math.sign(a - b));
        expect(new KeyReader(left).uint()).toBe(a);
      }),
    );
  });

  it('order as the bytes in them do, whatever follows', () => {
    const any = fc.oneof(bytes, zeroBytes);
    fc.assert(
      fc.property(any, any, uint, uint, (a, b, x, y) => {
        const [left, right] = [writer.bytes(a).uint(x).key(), writer.bytes(b).uint(y).key()];
        expect(Math.sign(compareBytes(left, right))).toBe(Math.sign(compareBytes(a, b)) || Math.sign(x - y));
      }),
    );
  });

  it('read back part by part', () => {
    fc.assert(
      fc.property(uint, zeroBytes, fc.string({ unit: 'grapheme' }), bytes, (n, mid, text, rest) => {
        const reader = new KeyReader(writer.byte(7).uint(n).bytes(mid).text(text).raw(rest).key());
        expect(reader.byte()).toBe(7);
        expect(reader.uint()).toBe(n);
        expect(reader.bytes()).toEqual(mid);
        expect(reader.text()).toBe(text);
        expect(reader.rest()).toEqual(rest);
        expect(reader.done).toBe(true);
      }),
    );
  });

  it('of a room lie in its range, behind its prefix', () => {
    const key = writer.uint(5).raw(new Uint8Array(2_000).fill(0xff)).key();
    const { start, end } = writer.range();
    expect(compareBytes(start, key)).toBeLessThan(0);
    expect(compareBytes(key, end)).toBeLessThan(0);
    expect(compareBytes(key, new KeyWriter('agents').range().start)).toBeLessThan(0);
  });

  it('with one prefix end at the next one', () => {
    expect(prefixEnd(Uint8Array.of(1, 2, 0xff))).toEqual(Uint8Array.of(1, 3));
    expect(() => prefixEnd(Uint8Array.of(0xff, 0xff))).toThrow(/no end/);
    const { start, end } = new KeyWriter('commit', Uint8Array.of(9)).uint(3).range();
    expect([compareBytes(start, end), end.length]).toEqual([-1, start.length]);
  });

  it('are whole again after a part that was refused', () => {
    const key = writer.byte(1).uint(2).key();
    for (const refused of [
      () => writer.byte(9).uint(1e300),
      () => writer.byte(9).uint(-1),
      () => writer.byte(9).uint(Number.NaN),
    ]) {
      expect(refused).toThrow();
      expect(writer.byte(1).uint(2).key()).toEqual(key);
    }
    expect(() => writer.byte(9).text(undefined as unknown as string)).toThrow();
    expect(writer.byte(1).uint(2).key()).toEqual(key);
  });
});
