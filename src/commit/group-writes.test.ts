import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createMemoryStore, type Key } from '../store/index.js';
import { GroupWrites } from './group-writes.js';

const IDS = 12;
const ids = Array.from({ length: IDS }, (_, id) => id);
const key = (id: number): Key => Uint8Array.of(0x10, id);
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString();

const id = fc.nat(IDS - 1);
const step = fc.oneof(
  fc.record({ id, value: fc.option(fc.string({ maxLength: 3 }), { nil: undefined }) }),
  fc.record({ from: id, length: fc.nat(5) }),
  fc.constant('read' as const),
);

it('a group reads what it has put and deleted so far, and what lands is just that', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const store = createMemoryStore();
      const options = { expectEpoch: store.epoch };
      const model = new Map(ids.filter((one) => one % 2 === 0).map((one): [number, string] => [one, 'stored']));
      const puts = [...model].map(([one, value]) => ({ key: key(one), value: Buffer.from(value) }));
      await store.apply({ version: 1, puts }, options);
      const writes = new GroupWrites(store.snapshot());
      const expectModel = async () => {
        const all = ids.map((one) => model.get(one));
        expect((await writes.getMany(ids.map(key))).map(text)).toEqual(all);
        expect(await Promise.all(ids.map(async (one) => text(await writes.get(key(one)))))).toEqual(all);
      };
      for (const one of steps) {
        if (one === 'read') await expectModel();
        else if ('id' in one) {
          writes.put(key(one.id), one.value === undefined ? undefined : Buffer.from(one.value));
          if (one.value === undefined) model.delete(one.id);
          else model.set(one.id, one.value);
        } else {
          writes.deleteRange(key(one.from), key(one.from + one.length));
          for (let gone = one.from; gone < one.from + one.length; gone++) model.delete(gone);
        }
      }
      await expectModel();
      writes.snapshot.release();
      await store.apply({ version: 2, puts: writes.puts, deleteRanges: writes.ranges }, options);
      const landed = store.snapshot();
      expect((await landed.getMany(ids.map(key))).map(text)).toEqual(ids.map((one) => model.get(one)));
      landed.release();
    }),
  );
});
