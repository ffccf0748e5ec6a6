import { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { isPlain, Pipe } from './pipe.js';

const THROWS = {
  get it() {
    throw new Error('detached');
  },
};

/** Both ends, with what one writes cut into parts of `size` bytes on its way. */
function pair(size: number, messageBytes = 1_000_000, arriving = messageBytes) {
  const received: unknown[][] = [];
  const frames: Buffer[] = [];
  const there = new Duplex({ read: () => undefined });
  const here = new Duplex({
    read: () => undefined,
    write(bytes: Buffer, _encoding, done) {
      frames.push(bytes);
      for (let at = 0; at < bytes.length; at += size) there.push(bytes.subarray(at, at + size));
      done();
    },
  });
  const refused: unknown[] = [];
  const pipe = new Pipe<never, unknown>(here as Socket, {
    messageBytes,
    take: () => undefined,
    refused: (message) => {
      refused.push(message);
      return { instead: true };
    },
  });
  new Pipe<unknown, never>(there as Socket, {
    messageBytes: arriving,
    take: (batch) => received.push([...batch]),
    refused: () => undefined,
  });
  return { pipe, received, frames, refused, there };
}

const arrived = () => new Promise((done) => setImmediate(() => setImmediate(done)));

describe('the pipe to a host process', () => {
  it.each([1, 3, 64, 100_000])('puts frames together that arrive in parts of %i bytes', async (size) => {
    const { pipe, received, frames } = pair(size);
    pipe.tell({ k: 'one', text: 'ü€𝄞' });
    pipe.tell({ k: 'two' });
    await arrived();
    pipe.tell({ k: 'large', text: 'x'.repeat(5_000) }, ['x'.repeat(5_000)]);
    await arrived();
    expect(received).toEqual([[{ k: 'one', text: 'ü€𝄞' }, { k: 'two' }], [{ k: 'large', text: 'x'.repeat(5_000) }]]);
    expect(frames).toHaveLength(2);
  });

  it('gives values of app code back as they were', async () => {
    const { pipe, received } = pair(1_000);
    const cycle: unknown[] = [1];
    cycle.push(cycle);
    const values = [new Date(5), 12n, undefined, Number.NaN, -0, new Map([['a', 1]]), { a: undefined }, cycle];
    for (const value of values) {
      pipe.tell({ value }, value);
      await arrived();
    }
    expect(received.map(([message]) => message)).toEqual(values.map((value) => ({ value })));
  });

  it('sends the others of a batch where one cannot be copied', async () => {
    const { pipe, received, refused } = pair(1_000);
    const held = { work: () => 1 };
    pipe.tell({ n: 1 });
    pipe.tell({ n: 2, held }, held);
    pipe.tell({ n: 3 });
    await arrived();
    expect(received.flat()).toEqual([{ n: 1 }, { instead: true }, { n: 3 }]);
    expect(refused).toEqual([{ n: 2, held }]);
  });

  it.each([
    ['text', 'x'.repeat(2_000)],
    ['other values', new Map([['x', 'x'.repeat(2_000)]])],
  ])('sends the others of a batch where one is too large: %s', async (_, large) => {
    const { pipe, received, refused } = pair(1_000, 1_000);
    pipe.tell({ n: 1 });
    pipe.tell({ n: 2, large }, large);
    for (let n = 3; n < 200; n++) pipe.tell({ n });
    await arrived();
    const others = Array.from({ length: 197 }, (_, i) => ({ n: i + 3 }));
    expect(received.flat()).toEqual([{ n: 1 }, { instead: true }, ...others]);
    expect(refused).toEqual([{ n: 2, large }]);
  });

  it('is closed by whoever sends more than it may', async () => {
    const { pipe, received, there } = pair(100, 10_000, 1_000);
    pipe.tell({ text: 'x'.repeat(1_100) });
    await arrived();
    expect(received).toEqual([]);
    expect(there.destroyed).toBe(true);
  });

  it('knows what JSON would change', () => {
    const many = Array.from({ length: 1_000 }, (_, i) => i);
    for (const value of ['a', 1.5, null, true, [1, ['b']], { a: { b: [null] } }]) expect(isPlain(value)).toBe(true);
    for (const value of [
      undefined,
      1n,
      new Date(),
      new Map(),
      Number.POSITIVE_INFINITY,
      { toJSON: 1 },
      [undefined],
      THROWS,
    ]) {
      expect(isPlain(value)).toBe(false);
    }
    // not looked through to its end
    expect(isPlain(many)).toBe(false);
  });
});
