import { describe, expect, it } from 'vitest';
import { each, mapped, type Pushing, recovered } from './async-iterable.js';

describe('async iterables', () => {
  let closed = 0;
  async function* numbers(until = 3): AsyncIterable<number> {
    try {
      for (let i = 1; i <= until; i++) yield i;
      throw new Error('no more');
    } finally {
      closed++;
    }
  }
  const all = async <T>(source: AsyncIterable<T>, most = 9): Promise<T[]> => {
    const items: T[] = [];
    for await (const item of source) {
      items.push(item);
      if (items.length === most) break;
    }
    return items;
  };

  it('change item by item, and close their source with the reader', async () => {
    closed = 0;
    expect(
      await all(
        mapped(numbers(), (n) => n * 2),
        2,
      ),
    ).toEqual([2, 4]);
    expect(closed).toBe(1);
  });

  it('pass errors on, of the source and of the change, and close the source', async () => {
    closed = 0;
    await expect(all(mapped(numbers(), (n) => n))).rejects.toThrow('no more');
    const choosy = mapped(numbers(), (n) => {
      if (n === 2) throw new Error('not two');
      return n;
    });
    await expect(all(choosy)).rejects.toThrow('not two');
    expect(closed).toBe(2);
  });

  it('end with what is made of an error, also of one at the start', async () => {
    const text = (thrown: unknown) => (thrown as Error).message;
    expect(await all(recovered(() => mapped(numbers(), String), text))).toEqual(['1', '2', '3', 'no more']);
    const never = () => {
      throw new Error('not opened');
    };
    expect(await all(recovered(never, text))).toEqual(['not opened']);
  });

  it('end where the reader left before the first step', async () => {
    closed = 0;
    const iterator = recovered(
      () => numbers(),
      () => 0,
    )[Symbol.asyncIterator]();
    await iterator.return?.();
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(closed).toBe(0);
  });

  describe('that push', () => {
    const here = { aborted: false };
    /** Hands its numbers over, and waits where it is asked to. */
    const pushing = (until: number): Pushing<number> => ({
      [Symbol.asyncIterator]: () => {
        throw new Error('it is never pulled');
      },
      async push(take, left) {
        for (let i = 1; i <= until && !left.aborted; i++) await take(i);
        if (!left.aborted) throw new Error('no more');
      },
    });
    const told = async (source: AsyncIterable<unknown>, left = here) => {
      const items: unknown[] = [];
      await each(source, (item) => void items.push(item), left);
      return items;
    };

    it('do so through what stands around them', async () => {
      const text = (thrown: unknown) => (thrown as Error).message;
      const source = recovered(() => mapped(pushing(2), String), text);
      expect(await told(source)).toEqual(['1', '2', 'no more']);
      const never = () => {
        throw new Error('not opened');
      };
      expect(await told(recovered(never, text))).toEqual(['not opened']);
      await expect(told(mapped(pushing(2), String))).rejects.toThrow('no more');
    });

    it('wait for a reader that pauses; others are pulled, and closed when it leaves', async () => {
      closed = 0;
      for (const source of [pushing(9), numbers(9)]) {
        const left = { aborted: false };
        const items: number[] = [];
        await each(
          source,
          async (item) => {
            await null;
            items.push(item);
            left.aborted = item === 3;
          },
          left,
        );
        expect(items).toEqual([1, 2, 3]);
      }
      expect(closed).toBe(1);
    });
  });
});
