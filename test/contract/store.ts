import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type Batch,
  compareBytes,
  type Key,
  type KeyRun,
  KeyWriter,
  type Range,
  type Snapshot,
  type Store,
} from '../../src/store/index.js';

/** One place where stores of one kind are opened, again and again. */
interface StorePlace {
  /** Opens the same data; `takeOver` although another one is open. */
  open(options?: { readonly takeOver?: boolean }): Promise<Store>;
  remove(): Promise<void>;
}

const keys = new KeyWriter('graph');
const key = (...ids: readonly number[]): Key => {
  for (const id of ids) keys.uint(id);
  return keys.key();
};
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const put = (id: number, text: string | undefined): Batch['puts'][number] => ({
  key: key(id),
  value: text === undefined ? undefined : bytes(text),
});
const text = (value: Uint8Array | undefined): string | undefined =>
  value === undefined ? undefined : Buffer.from(value).toString();

/** Every key and value of a range, in its order, page by page. */
export async function entries(snapshot: Snapshot, range: Range): Promise<[string, string][]> {
  const all: [string, string][] = [];
  for (let next: Range | undefined = range; next !== undefined; ) {
    const page = await snapshot.range(next);
    page.keys.forEach((k, i) => {
      all.push([Buffer.from(k).toString('hex'), Buffer.from(page.values[i]).toString('hex')]);
    });
    next = page.next;
  }
  return all;
}

/** Keys of ids, made when they are asked for. */
function runOf(...ids: readonly number[]): KeyRun {
  return {
    length: ids.length,
    write: (index, target, at) => {
      const bytes = key(ids[index]);
      target.set(bytes, at);
      return at + bytes.length;
    },
    key: (index) => key(ids[index]),
  };
}

/** The rules that every store keeps, whatever it is made of. */
export function storeContract(name: string, createPlace: () => Promise<StorePlace>): void {
  describe(`${name} keeps the store contract`, () => {
    let place: StorePlace;
    let store: Store;
    let version = 0;
    const apply = (puts: Batch['puts'], deleteRanges?: Batch['deleteRanges']): Promise<void> =>
      store.apply({ version: ++version, puts, deleteRanges }, { expectEpoch: store.epoch });
    const read = async (...ids: readonly number[]): Promise<(string | undefined)[]> => {
      const snapshot = store.snapshot();
      const values = (await snapshot.getMany(ids.map((id) => key(id)))).map(text);
      snapshot.release();
      return values;
    };

    beforeEach(async () => {
      version = 0;
      place = await createPlace();
      store = await place.open();
    });
    afterEach(async () => {
      await store.close();
      await place.remove();
    });

    it('is empty at version 0 at first', async () => {
      const snapshot = store.snapshot();
      expect(snapshot.version).toBe(0);
      expect(await snapshot.range(new KeyWriter('graph').range())).toEqual({ keys: [], values: [] });
      expect(store.incarnation).toMatch(/^[0-9a-f]{16}$/);
      snapshot.release();
    });

    it('answers a batch in the order of its keys, absent ones as undefined, empty values as empty', async () => {
      await apply([put(1, 'one'), put(2, ''), put(300, 'many')]);
      expect(await read(300, 7, 1, 2, 1)).toEqual(['many', undefined, 'one', '', 'one']);
    });

    it('visits the values of a batch in the order of its keys, and passes over absent ones', async () => {
      await apply([put(1, 'one'), put(2, ''), put(300, 'many'.repeat(900))]);
      const snapshot = store.snapshot();
      const seen: (readonly [number, string])[] = [];
      await snapshot.visit(runOf(300, 7, 1, 2, 1), (index, value, start, end) => {
        seen.push([index, text(value.slice(start, end)) as string]);
      });
      expect(seen).toEqual([
        [0, 'many'.repeat(900)],
        [2, 'one'],
        [3, ''],
        [4, 'one'],
      ]);
      snapshot.release();
      expect(() => snapshot.visit(runOf(1), () => undefined)).toThrow(/released/);
    });

    it('lets later puts of one key win, and deletes', async () => {
      await apply([put(1, 'a'), put(1, 'b'), put(2, 'x'), put(2, undefined)]);
      expect(await read(1, 2)).toEqual(['b', undefined]);
      await apply([put(1, undefined), put(9, undefined)]);
      expect(await read(1)).toEqual([undefined]);
    });

    it('keeps a snapshot still under later writes', async () => {
      await apply([put(1, 'old'), put(2, 'old')]);
      const snapshot = store.snapshot();
      await apply([put(1, 'new'), put(3, 'new')], [{ start: key(2), end: key(3) }]);
      await apply([put(1, 'newer')]);
      expect(snapshot.version).toBe(1);
      expect((await snapshot.getMany([key(1), key(2), key(3)])).map(text)).toEqual(['old', 'old', undefined]);
      expect((await entries(snapshot, new KeyWriter('graph').range())).length).toBe(2);
      expect(await read(1, 2, 3)).toEqual(['newer', undefined, 'new']);
      snapshot.release();
    });

    it('shows a batch only once it is on disk', async () => {
      const landing = apply([put(1, 'a')]);
      const before = store.snapshot();
      await landing;
      expect(before.version).toBe(0);
      expect(await before.getMany([key(1)])).toEqual([undefined]);
      expect(await read(1)).toEqual(['a']);
      before.release();
    });

    it('copies what it is given', async () => {
      const value = bytes('kept');
      const own = key(1);
      await apply([{ key: own, value }]);
      value.fill(0);
      own.fill(0);
      expect(await read(1)).toEqual(['kept']);
    });

    it('hands out values that stay as they are', async () => {
      await apply([put(1, 'one'), put(2, 'two')]);
      const snapshot = store.snapshot();
      const one = await snapshot.get(key(1));
      const page = await snapshot.range(new KeyWriter('graph').range());
      await snapshot.getMany([key(2)]);
      await apply([put(1, 'changed')]);
      expect([text(one), ...page.values.map(text)]).toEqual(['one', 'one', 'two']);
      snapshot.release();
    });

    it('walks ranges both ways, page by page, with its bounds', async () => {
      await apply(Array.from({ length: 20 }, (_, i) => put(i, `v${i}`)));
      const snapshot = store.snapshot();
      const walk = async (range: Omit<Range, 'start' | 'end'>): Promise<string[]> => {
        const found: string[] = [];
        let next: Range | undefined = { start: key(3), end: key(12), ...range };
        while (next !== undefined) {
          const page = await snapshot.range(next);
          expect(page.keys.length).toBeLessThanOrEqual(next.limit ?? 1_000);
          found.push(...page.values.map((value) => text(value) ?? ''));
          next = page.next;
        }
        return found;
      };
      const up = ['v3', 'v4', 'v5', 'v6', 'v7', 'v8', 'v9', 'v10', 'v11'];
      for (const limit of [1, 2, 3, 9, 10]) {
        expect(await walk({ limit })).toEqual(up);
        expect(await walk({ limit, reverse: true })).toEqual([...up].reverse());
      }
      expect(await walk({})).toEqual(up);
      snapshot.release();
    });

    it('leaves values out of a range when asked', async () => {
      await apply([put(1, 'a'), put(2, 'b')]);
      const snapshot = store.snapshot();
      const { keys: found, values } = await snapshot.range({ ...new KeyWriter('graph').range(), keysOnly: true });
      expect(found.map((k) => Buffer.compare(k, key(1)))).toEqual([0, 1]);
      expect(values).toEqual([]);
      snapshot.release();
    });

    it('deletes ranges before it puts', async () => {
      await apply(Array.from({ length: 10 }, (_, i) => put(i, 'x')));
      await apply([put(4, 'again')], [{ start: key(2), end: key(8) }]);
      const snapshot = store.snapshot();
      expect((await entries(snapshot, new KeyWriter('graph').range())).length).toBe(5);
      expect(await read(1, 2, 4, 7, 8)).toEqual(['x', undefined, 'again', undefined, 'x']);
      snapshot.release();
    });

    it('lands nothing of a batch that it refuses', async () => {
      await apply([put(1, 'before')]);
      const long = { key: new Uint8Array(1_025).fill(1), value: bytes('x') };
      const large = { key: key(3), value: new Uint8Array(3_901) };
      await expect(apply([put(1, 'lost'), long])).rejects.toMatchObject({ code: 'KEY_TOO_LARGE' });
      await expect(apply([put(2, 'lost'), large])).rejects.toMatchObject({ code: 'VALUE_TOO_LARGE' });
      const throwing: Batch['puts'][number] = {
        key: key(4),
        get value(): Uint8Array {
          throw new Error('in the middle');
        },
      };
      await expect(apply([put(2, 'lost'), throwing, put(5, 'lost')])).rejects.toThrow('in the middle');
      expect(await read(1, 2, 4, 5)).toEqual(['before', undefined, undefined, undefined]);
      await apply([put(2, 'after')]);
      expect(await read(2)).toEqual(['after']);
    });

    it('takes keys and values up to the limits', async () => {
      const longest = new Uint8Array(1_024).fill(0x10);
      const largest = new Uint8Array(3_900).fill(7);
      await apply([{ key: longest, value: largest }]);
      const snapshot = store.snapshot();
      expect(await snapshot.get(longest)).toEqual(largest);
      expect((await snapshot.range({ start: longest, end: Uint8Array.of(0x11) })).values).toEqual([largest]);
      snapshot.release();
    });

    it('refuses versions that do not rise', async () => {
      await apply([put(1, 'a')]);
      await expect(store.apply({ version, puts: [] }, { expectEpoch: store.epoch })).rejects.toThrow(/not above/);
    });

    it('opens again with everything, a new epoch and the same incarnation', async () => {
      await apply([put(1, 'a')]);
      const { epoch, incarnation } = store;
      await store.close();
      store = await place.open();
      expect(await read(1)).toEqual(['a']);
      expect(store.epoch).toBeGreaterThan(epoch);
      expect(store.incarnation).toBe(incarnation);
      const snapshot = store.snapshot();
      expect(snapshot.version).toBe(1);
      snapshot.release();
    });

    it('fences a writer after another one opened', async () => {
      await apply([put(1, 'first')]);
      const second = await place.open({ takeOver: true });
      await expect(apply([put(1, 'lost')])).rejects.toMatchObject({ code: 'STORE_FENCED' });
      await expect(apply([put(1, 'lost again')])).rejects.toMatchObject({ code: 'STORE_FENCED' });
      await second.apply({ version: 10, puts: [put(2, 'second')] }, { expectEpoch: second.epoch });
      await expect(apply([put(1, 'lost behind it')])).rejects.toMatchObject({ code: 'STORE_FENCED' });
      const snapshot = second.snapshot();
      expect((await snapshot.getMany([key(1), key(2)])).map(text)).toEqual(['first', 'second']);
      snapshot.release();
      await second.close();
    });

    it('gives a second snapshot of the same version, which outlives the first', async () => {
      await apply([put(1, 'old')]);
      const first = store.snapshot();
      await apply([put(1, 'new')]);
      const second = first.again();
      first.release();
      expect([second.version, text(await second.get(key(1)))]).toEqual([first.version, 'old']);
      second.release();
      expect(() => second.again()).toThrow(/released/);
    });

    it('refuses a batch that was made for another epoch', async () => {
      await apply([put(1, 'kept')]);
      const lost = { version: version + 1, puts: [put(1, 'lost')] };
      await expect(store.apply(lost, { expectEpoch: store.epoch - 1 })).rejects.toMatchObject({ code: 'STORE_FENCED' });
      expect(await read(1)).toEqual(['kept']);
      await apply([put(1, 'newer')]);
      expect(await read(1)).toEqual(['newer']);
    });

    it('does not read after a release', () => {
      const snapshot = store.snapshot();
      snapshot.release();
      snapshot.release();
      expect(() => snapshot.getMany([key(1)])).toThrow(/released/);
      expect(() => snapshot.range(new KeyWriter('graph').range())).toThrow(/released/);
    });

    it('neither reads nor crashes after it was closed', async () => {
      await apply([put(1, 'a')]);
      const snapshot = store.snapshot();
      await store.close();
      expect(() => snapshot.getMany([key(1)])).toThrow(/closed/);
      expect(() => snapshot.range(new KeyWriter('graph').range())).toThrow(/closed/);
      snapshot.release();
      expect(() => store.snapshot()).toThrow(/closed/);
      await expect(apply([put(1, 'b')])).rejects.toThrow(/closed/);
      await store.close();
    });

    it('tells figures', () => {
      expect(Object.values(store.stats()).every((figure) => Number.isFinite(figure))).toBe(true);
    });

    it('agrees with a sorted map whatever is written', async () => {
      const id = fc.integer({ min: 0, max: 400 });
      const step = fc.record({
        puts: fc.array(fc.tuple(id, fc.option(fc.string({ maxLength: 12 }), { nil: undefined })), { maxLength: 60 }),
        ranges: fc.array(fc.tuple(id, fc.nat(60)), { maxLength: 2 }),
      });
      const model = new Map<string, string>();
      const run = async (steps: readonly { puts: [number, string | undefined][]; ranges: [number, number][] }[]) => {
        for (const { puts, ranges } of steps) {
          const deleteRanges = ranges.map(([from, length]) => ({ start: key(from), end: key(from + length) }));
          await apply(
            puts.map(([i, value]) => put(i, value)),
            deleteRanges,
          );
          for (const { start, end } of deleteRanges) {
            for (const known of [...model.keys()]) {
              const k = Buffer.from(known, 'hex');
              if (compareBytes(k, start) >= 0 && compareBytes(k, end) < 0) model.delete(known);
            }
          }
          for (const [i, value] of puts) {
            const hex = Buffer.from(key(i)).toString('hex');
            if (value === undefined) model.delete(hex);
            else model.set(hex, Buffer.from(value).toString('hex'));
          }
        }
        const sorted = [...model].sort(([a], [b]) => (a < b ? -1 : 1));
        const snapshot = store.snapshot();
        expect(await entries(snapshot, { ...new KeyWriter('graph').range(), limit: 7 })).toEqual(sorted);
        expect(await entries(snapshot, { ...new KeyWriter('graph').range(), reverse: true })).toEqual(sorted.reverse());
        snapshot.release();
      };
      await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), run), { numRuns: 40 });
    });
  });
}
