import { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { isPlain, Pipe } from './pipe.js';

const THROWS = {
  get it() {
    throw new Error('detached');
  },
};

/** Both ends, with what one writes cut into parts of `size` bytes on its way. */
function pair(size: number, messageBytes = 1_000_000, arriving = messageBytes, codec?: typeof DOUBLED) {
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
    codec,
  });
  new Pipe<unknown, never>(there as Socket, {
    messageBytes: arriving,
    take: (batch) => received.push([...batch]),
    refused: () => undefined,
    codec,
  });
  return { pipe, received, frames, refused, here, there };
}

const DOUBLED = { pack: (n: unknown) => [n, n], unpack: (travelled: unknown) => (travelled as readonly never[])[0] };
/** how each frame travelled: see the head of pipe.ts */
const codecsOf = (frames: readonly Buffer[]) => frames.map((frame) => frame[4]);

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

  it('takes the dearer way for a tick that needs it, whatever follows in it, and for no other', async () => {
    const { pipe, received, frames } = pair(1_000);
    const rich = new Map([['a', 1]]);
    pipe.tell({ rich }, rich);
    pipe.tell({ n: 1 }, 1);
    await arrived();
    pipe.tell({ n: 2 });
    await arrived();
    expect(received).toEqual([[{ rich }, { n: 1 }], [{ n: 2 }]]);
    expect(codecsOf(frames)).toEqual([1, 0]);
  });

  it('takes what it sends and receives the way it is told to', async () => {
    const { pipe, received, frames } = pair(1_000, 1_000, 1_000, DOUBLED);
    pipe.tell('a');
    pipe.tell('b');
    await arrived();
    expect(received).toEqual([['a', 'b']]);
    expect(frames.map((frame) => frame.toString('utf8', 5))).toEqual(['[["a","a"],["b","b"]]']);
  });

  it('puts a large frame together once, in however many parts it arrives', async () => {
    const { pipe, received } = pair(100);
    const concat = vi.spyOn(Buffer, 'concat');
    try {
      pipe.tell({ text: 'x'.repeat(10_000) });
      await arrived();
      expect(received).toHaveLength(1);
      expect(concat.mock.calls.length).toBeLessThan(5);
    } finally {
      concat.mockRestore();
    }
  });

  it.each([
    ['text', 'x'.repeat(1_000)],
    ['other values', new Map([['x', 'x'.repeat(1_000)]])],
  ])('takes as much as its limit, and not a byte more, from when it is told: %s', async (_, value) => {
    const measured = pair(100_000);
    measured.pipe.tell({ value }, value);
    await arrived();
    const bytes = measured.frames[0].length - 5;
    const { pipe, received, refused, there } = pair(100_000, bytes, bytes);
    pipe.tell({ value }, value);
    await arrived();
    expect(received).toEqual([[{ value }]]);
    pipe.limit(bytes - 1);
    pipe.tell({ value }, value);
    await arrived();
    expect(refused).toEqual([{ value }]);
    expect(received[1]).toEqual([{ instead: true }]);
    // the other end has a limit of its own
    expect(there.destroyed).toBe(false);
    pipe.limit(2 * bytes);
    pipe.tell({ value: [value, 1] }, value);
    await arrived();
    expect([received.length, refused.length, there.destroyed]).toEqual([2, 1, true]);
  });

  it('sends nothing where nothing waits, or where nobody is left, and takes no harm', async () => {
    const { pipe, frames, here } = pair(100);
    pipe.flush();
    expect(frames).toEqual([]);
    pipe.tell({ n: 1 });
    here.destroy(new Error('the process is gone'));
    await arrived();
    pipe.tell({ n: 2 });
    pipe.flush();
    await arrived();
    expect(frames).toEqual([]);
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
