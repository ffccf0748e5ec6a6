import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { atOnce } from '../base/index.js';
import { createMemoryStore } from '../store/index.js';
import type { UidList } from './contract.js';
import { BLOCK_BYTES, BLOCK_UIDS, decodePart, encodeBlock, INLINE_BYTES, type Slots, visitSlots } from './block.js';
import { type ChangesPart, DeltaLog, OP, payloadOf } from './delta.js';
import { decodeEntries, encodeEntries, entryCount } from './entry-map.js';
import { chunkRange, spillPrefix, tokenKey, tokenOfKey } from './key.js';
import { editList, isSpilled, readSpilled, rootCount, writeList } from './posting-list.js';
import { OverlaySource, type PutKey, readRange } from './source.js';
import { CHUNK_SPLIT, chunkCount, chunkFirst, cutChunks, decodeChunk, encodeChunk } from './uid-chunk.js';
import { difference, distinct, hasUid, intersect, lowerBoundUid, sortedUids, union } from './uid-list.js';
import { readVarint, varintEnd, varintLength, writeVarint } from './varint.js';

const anyUid = fc.oneof(
  fc.integer({ min: 1, max: 400 }),
  fc.integer({ min: 1, max: 100_000 }),
  fc.maxSafeNat().map((uid) => Math.max(1, uid)),
);
const uidList = fc.array(anyUid, { maxLength: 400 }).map((uids) => distinct(Float64Array.from(uids)));

/** Many uids with the gaps that make each encoding the smallest one. */
const longList = fc
  .record({
    start: fc.constantFrom(1, 2 ** 33),
    gap: fc.constantFrom(1, 3, 60, 1_000, 100_000),
    count: fc.integer({ min: 1, max: 20_000 }),
  })
  .map(({ start, gap, count }) =>
    Float64Array.from({ length: count }, (_, i) => start + i * gap + (gap > 3 ? i % 3 : 0)),
  );

describe('lists of uids', () => {
  const model = (list: Iterable<number>) => [...new Set(list)].sort((a, b) => a - b);

  it('are intersected, joined and subtracted as sets are', () => {
    fc.assert(
      fc.property(uidList, uidList, (a, b) => {
        const inB = new Set(b);
        expect([...intersect(a, b)]).toEqual([...a].filter((uid) => inB.has(uid)));
        expect([...difference(a, b)]).toEqual([...a].filter((uid) => !inB.has(uid)));
        expect([...union([a, b])]).toEqual(model([...a, ...b]));
      }),
    );
  });

  it('are joined whatever their number and spread', () => {
    fc.assert(
      fc.property(fc.array(uidList, { maxLength: 8 }), longList, (lists, long) => {
        const all = [...lists, long];
        expect([...union(all)]).toEqual(model(all.flatMap((list) => [...list])));
        const few = Float64Array.of(long[0], long[long.length >> 1], 5e15);
        expect([...intersect(few, long)]).toEqual([...few].filter((uid, i) => i < 2 && (i === 0 || uid !== few[0])));
      }),
      { numRuns: 60 },
    );
  });

  it('are joined across the borders of the windows that many close ones are joined in', () => {
    const window = 2 ** 18;
    const near = Float64Array.from({ length: 2_000 }, (_, i) => i + 1);
    for (const gap of [1, 31, 32, window / 2]) {
      const [even, odd] = [0, 1].map((half) =>
        Float64Array.from({ length: 8 }, (_, i) => window + (2 * i + half - 7) * gap).filter((uid) => uid > 0),
      );
      expect([...union([near, even, odd])]).toEqual(model([...near, ...even, ...odd]));
    }
  });

  it('are searched', () => {
    fc.assert(
      fc.property(uidList, anyUid, (list, uid) => {
        expect(hasUid(list, uid)).toBe([...list].includes(uid));
        expect(lowerBoundUid(list, uid)).toBe([...list].filter((other) => other < uid).length);
        expect([...sortedUids([...list].reverse())]).toEqual([...list]);
      }),
    );
  });
});

describe('numbers of variable length', () => {
  it('come back as they were', () => {
    fc.assert(
      fc.property(fc.oneof(fc.nat(300), fc.maxSafeNat()), (value) => {
        const bytes = new Uint8Array(12);
        const end = writeVarint(bytes, 2, value);
        expect([readVarint(bytes, 2), varintEnd(bytes, 2), 2 + varintLength(value)]).toEqual([value, end, end]);
      }),
    );
  });
});

describe('chunks of posting lists', () => {
  it('come back as they were, each below a page', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          longList,
          uidList.filter((list) => list.length > 0),
        ),
        (list) => {
          const chunks = cutChunks(list);
          expect(chunks.flatMap((chunk) => [...decodeChunk(chunk)])).toEqual([...list]);
          expect(chunks.every((chunk) => chunk.length <= CHUNK_SPLIT + 20)).toBe(true);
          expect(chunks.reduce((sum, chunk) => sum + chunkCount(chunk), 0)).toBe(list.length);
          expect(chunkFirst(chunks[0])).toBe(list[0]);
        },
      ),
      { numRuns: 80 },
    );
  });

  it('take the smallest of their encodings', () => {
    const dense = Float64Array.from({ length: 8_000 }, (_, i) => i + 1);
    const spread = Float64Array.from({ length: 700 }, (_, i) => i * 90 + 1);
    const far = Float64Array.from({ length: 100 }, (_, i) => i * 1e9 + 1);
    expect([dense, spread, far].map((list) => encodeChunk(list)[0])).toEqual([2, 0, 0]);
    expect(encodeChunk(Float64Array.from({ length: 200 }, (_, i) => i * 300 + 1))[0]).toBe(1);
    expect(encodeChunk(dense).length).toBeLessThan(1_010);
  });
});

describe('a posting list', () => {
  const prefix = spillPrefix(7, 0x40, 1);
  const edits = fc.array(fc.record({ clear: fc.boolean(), add: uidList, remove: uidList, few: fc.boolean() }), {
    minLength: 1,
    maxLength: 6,
  });

  it('holds what edits make of it, in its root or in chunks', async () => {
    await fc.assert(
      fc.asyncProperty(longList, edits, fc.nat(50), async (start, steps, clearAt) => {
        const source = new OverlaySource(createMemoryStore().snapshot());
        const put = source.put.bind(source);
        let root = writeList(start, () => prefix, 400, put);
        let expected = new Set(start);
        for (const [i, step] of steps.entries()) {
          const take = (list: Float64Array) => (step.few ? list.slice(0, 2) : list);
          const add = take(step.add);
          const old = [...expected];
          const near = sortedUids(old.slice(0, 3));
          const remove = difference(union([take(step.remove), near]), add);
          const clear = step.clear && i === clearAt;
          const before = expected;
          expected = new Set([...(clear ? [] : old.filter((uid) => !hasUid(remove, uid))), ...add]);
          const change = await editList(source, () => prefix, root, { clear, add, remove }, 400, put);
          root = change.root;
          expect([change.before, change.after]).toEqual([before.size, expected.size]);
          expect([...change.added]).toEqual([...expected].filter((uid) => !before.has(uid)).sort((a, b) => a - b));
          expect([...change.removed]).toEqual([...before].filter((uid) => !expected.has(uid)).sort((a, b) => a - b));
          expect(rootCount(root)).toBe(expected.size);
          const { keys, values } = await readRange(source, chunkRange(prefix));
          const spilled = root !== undefined && isSpilled(root);
          if (!spilled) expect(keys.length).toBe(0);
          expect(values.every((value) => value.length <= CHUNK_SPLIT + 20)).toBe(true);
          const stored = spilled ? await readSpilled(source, prefix) : root ? decodeChunk(root) : [];
          expect([...stored]).toEqual([...expected].sort((a, b) => a - b));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('takes edits of the highest uid there is', async () => {
    const source = new OverlaySource(createMemoryStore().snapshot());
    const put = source.put.bind(source);
    const last = Float64Array.of(Number.MAX_SAFE_INTEGER);
    const none = new Float64Array(0);
    const start = Float64Array.from({ length: 20_000 }, (_, i) => i * 1_000 + 1);
    let root = writeList(start, () => prefix, 400, put);
    for (const [add, remove, expected] of [
      [none, last, 20_000],
      [last, none, 20_001],
      [last, none, 20_001],
      [none, last, 20_000],
    ] as const) {
      root = (await editList(source, () => prefix, root, { clear: false, add, remove }, 400, put)).root;
      const stored = await readSpilled(source, prefix);
      expect([rootCount(root), stored.length, hasUid(stored, last[0])]).toEqual([
        expected,
        expected,
        expected > 20_000,
      ]);
    }
  });

  it('keeps all but the chunks that many neighbours fall into', async () => {
    const source = new OverlaySource(createMemoryStore().snapshot());
    const none = new Float64Array(0);
    const start = Float64Array.from({ length: 50_000 }, (_, i) => i * 1_000 + 1);
    let root = writeList(start, () => prefix, 400, source.put.bind(source));
    let expected: UidList = start;
    const from = (first: number, count: number) => Float64Array.from({ length: count }, (_, i) => first + i);
    for (const { add, remove } of [
      { add: from(50_000_000, 1_000), remove: none },
      { add: from(20_000_002, 900), remove: none },
      { add: none, remove: start.slice(10_000, 10_900) },
      { add: from(50_001_000, 1), remove: from(50_000_000, 1_000) },
    ]) {
      let puts = 0;
      const put: PutKey = (key, value) => {
        puts++;
        source.put(key, value);
      };
      root = (await editList(source, () => prefix, root, { clear: false, add, remove }, 400, put)).root;
      expected = union([difference(expected, remove), add]);
      expect(puts).toBeLessThan(12);
      expect(rootCount(root)).toBe(expected.length);
      expect(await readSpilled(source, prefix)).toEqual(expected);
    }
  });

  it('keeps few and well filled chunks when it grows one by one', async () => {
    const source = new OverlaySource(createMemoryStore().snapshot());
    const put = source.put.bind(source);
    let root: Uint8Array | undefined;
    for (let i = 0; i < 4_000; i++) {
      const add = Float64Array.of(((i * 7_919) % 4_001) * 1_000 + 1);
      root = (await editList(source, () => prefix, root, { clear: false, add, remove: new Float64Array(0) }, 400, put))
        .root;
    }
    const { values } = await readRange(source, chunkRange(prefix));
    expect(rootCount(root)).toBe(4_000);
    expect(values.length).toBeLessThan(16);
  });
});

describe('blocks', () => {
  it('are read into one copy that all payloads share', () => {
    const payloads = Array.from({ length: BLOCK_UIDS }, (_, i) => Uint8Array.of(i));
    const [part] = encodeBlock({ payloads, spilled: 0 });
    const back: Slots = { payloads: new Array(BLOCK_UIDS), spilled: 0 };
    decodePart(part as Uint8Array, back);
    part?.fill(0);
    expect(back.payloads).toEqual(payloads);
    expect(new Set(back.payloads.map((payload) => payload?.buffer)).size).toBe(1);
  });

  const payload = fc.uint8Array({ maxLength: INLINE_BYTES });
  const slots = fc.array(fc.option(payload, { nil: undefined }), { minLength: BLOCK_UIDS, maxLength: BLOCK_UIDS });

  it('come back as they were from parts below a page', () => {
    fc.assert(
      fc.property(slots, fc.nat(0xffffffff), (payloads, bits) => {
        const spilled =
          payloads.reduce((mask, p, slot) => (p && bits & (1 << slot) ? mask | (1 << slot) : mask), 0) >>> 0;
        const parts = encodeBlock({ payloads, spilled });
        expect(parts.every((part) => part === undefined || part.length <= BLOCK_BYTES)).toBe(true);
        const back: Slots = { payloads: new Array(BLOCK_UIDS).fill(undefined), spilled: 0 };
        for (const part of parts) if (part) decodePart(part, back);
        expect(back).toEqual({ payloads, spilled });
        const uids = Float64Array.from(payloads.keys(), (slot) => 7 * BLOCK_UIDS + slot);
        const width = BLOCK_UIDS / Math.max(parts.length, 1);
        const visited: (readonly [Uint8Array, boolean] | undefined)[] = new Array(BLOCK_UIDS).fill(undefined);
        parts.forEach((part, i) => {
          if (!part) return;
          const within = new Uint8Array([9, 9, 9, ...part, 9]);
          visitSlots(within, 3, uids, i * width, (i + 1) * width, (at, bytes, start, end, spilled) => {
            visited[at] = [bytes.slice(start, end), spilled];
          });
        });
        expect(visited).toEqual(payloads.map((p, slot) => p && [p, (spilled & (1 << slot)) !== 0]));
      }),
    );
  });
});

describe('entries, tokens and deltas', () => {
  it('come back as they were', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.uint8Array({ maxLength: 20 }), fc.uint8Array({ maxLength: 300 })), { maxLength: 20 }),
        (list) => {
          const entries = new Map(list.map(([key, value]) => [Buffer.from(key).toString('latin1'), value]));
          const bytes = encodeEntries(entries);
          expect([...decodeEntries(bytes)].map(([k, v]) => [k, [...v]])).toEqual(
            [...entries].map(([k, v]) => [k, [...v]]),
          );
          expect(entryCount(bytes)).toBe(entries.size);
        },
      ),
    );
  });

  it('keep the order of tokens in their keys, and keys below the limit', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 30 }), fc.uint8Array({ maxLength: 30 }), (a, b) => {
        const order = Math.sign(Buffer.compare(tokenKey(3, 'exact', a), tokenKey(3, 'exact', b)));
        expect(order).toBe(Math.sign(Buffer.compare(a, b)));
        expect(tokenOfKey(tokenKey(3, 'exact', a))).toEqual({ token: a, root: true });
      }),
    );
    expect(tokenKey(2 ** 31, 'exact', new Uint8Array(900)).length).toBeLessThan(1_000);
  });

  it('keep deltas with their values and facets, appended or not', () => {
    const [one, two] = [new DeltaLog(), new DeltaLog()];
    for (let i = 0; i < 200; i++) {
      one.add(
        OP.setValue,
        `p${i % 3}`,
        i + 1,
        0,
        i % 2 ? 'en' : '',
        new Uint8Array(i).fill(i),
        i % 5 ? undefined : Uint8Array.of(9),
      );
    }
    two.add(OP.setEdge, 'p9', 5, 6, '');
    two.append(one);
    const part = atOnce(two.partInSteps());
    expect(part.names).toEqual(['p9', 'p0', 'p1', 'p2']);
    for (let i = 0; i < 200; i++) {
      const { value, facets } = payloadOf(part, i + 1);
      expect([part.uids[i + 1], value.length, facets.length]).toEqual([i + 1, i, i % 5 ? 0 : 1]);
      expect(part.langs[part.langOf[i + 1]]).toBe(i % 2 ? 'en' : '');
    }
    expect(two.highestWithin(1, 150)).toBe(149);
  });

  it('keep many deltas in the order in which they came, from any of them on, and give them in steps', () => {
    const value = (i: number) => new Uint8Array(i % 7).fill(i);
    const fill = (log: DeltaLog, from: number, to: number) => {
      for (let i = from; i < to; i++) log.add(OP.setValue, `p${i % 3}`, i, i + 1, i % 2 ? 'en' : '', value(i));
    };
    const told = (part: ChangesPart) =>
      Array.from(part.uids, (uid, i) => {
        const [name, lang] = [part.names[part.predicates[i]], part.langs[part.langOf[i]]];
        return [uid, part.objects[i], name, lang, ...payloadOf(part, i).value];
      });
    const expected = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, at) => {
        const i = from + at;
        return [i, i + 1, `p${i % 3}`, i % 2 ? 'en' : '', ...value(i)];
      });
    const [log, more, copy] = [new DeltaLog(), new DeltaLog(), new DeltaLog()];
    fill(log, 1, 10_000);
    fill(more, 10_000, 20_000);
    more.add(OP.setEdge, 'p9', 20_000, 1, '');
    copy.append(log);
    log.append(more);
    fill(log, 20_001, 20_003);
    let steps = 0;
    const part = log.partInSteps();
    while (!part.next().done) steps++;
    expect(steps).toBeGreaterThan(3);
    expect([log.count, copy.count, log.highestWithin(1, 15_000)]).toEqual([20_002, 9_999, 14_999]);
    expect(told(atOnce(copy.partInSteps()))).toEqual(expected(1, 10_000));
    for (const from of [0, 1, 4_095, 4_096, 4_097, 9_999, 15_000, 20_001]) {
      const rest = told(atOnce(log.partInSteps(from)));
      expect(rest.length).toBe(20_002 - from);
      expect(rest.slice(0, Math.max(0, 19_999 - from))).toEqual(expected(from + 1, Math.max(from + 1, 20_000)));
      expect(rest.at(-1)).toEqual(expected(20_002, 20_003)[0]);
    }
  });

  it('keep large values whole where they are put aside', () => {
    const log = new DeltaLog();
    const sizes = [10, 1_500_000, 3, 600_000, 600_000, 0];
    for (const [i, size] of sizes.entries()) log.add(OP.setValue, 'p', i + 1, 0, '', new Uint8Array(size).fill(i + 1));
    const part = atOnce(log.partInSteps());
    expect(sizes.map((_, i) => payloadOf(part, i).value.length)).toEqual(sizes);
    expect(sizes.slice(0, 5).map((_, i) => payloadOf(part, i).value.at(-1))).toEqual([1, 2, 3, 4, 5]);
    expect(log.byteLength).toBe(sizes.reduce((sum, size) => sum + size + 33, 0));
  });
});
