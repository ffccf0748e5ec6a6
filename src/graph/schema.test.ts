// What a schema made from the one before holds, against one that is made anew.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LayeredMap } from './layered-map.js';
import { EMPTY_SCHEMA, PLAIN, type PredicateRecord, SchemaVersion } from './schema.js';

const NAMES = Array.from({ length: 12 }, (_, i) => `p${i}`);

it('a schema with edits is the schema that is made of all its records', () => {
  const edits = fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom('set', 'renew', 'remove')), {
    maxLength: 6,
  });
  fc.assert(
    fc.property(fc.array(edits, { maxLength: 8 }), (versions) => {
      let schema = SchemaVersion.of(1, [], [], 2);
      const records = new Map<string, PredicateRecord>();
      let nextId = 2;
      for (const changes of versions) {
        const changed = new Map<string, PredicateRecord | undefined>();
        for (const [name, what] of changes) {
          const id = what === 'renew' ? nextId++ : (records.get(name)?.id ?? nextId++);
          const record = what === 'remove' ? undefined : { ...PLAIN, id, name, count: what === 'set' };
          changed.set(name, record);
          if (record) records.set(name, record);
          else records.delete(name);
        }
        const types = new Map(
          [...changed].map(([name, record]) => [name, record && { name, fields: [String(record.id)] }]),
        );
        schema = schema.with(schema.version + 1, changed, types, nextId);
      }
      const anew = SchemaVersion.of(schema.version, records.values(), [], nextId);
      expect(schema.predicates).toEqual(anew.predicates);
      expect(schema.types.map(({ name }) => name)).toEqual(anew.predicates.map(({ name }) => name));
      for (const name of NAMES) {
        expect(schema.predicate(name)).toEqual(records.get(name));
        expect(schema.type(name)?.fields).toEqual(records.has(name) ? [String(records.get(name)?.id)] : undefined);
      }
      const byId = new Map([...records.values()].map((record) => [record.id, record]));
      for (let id = 0; id < nextId; id++) expect(schema.predicateById(id)).toEqual(byId.get(id));
    }),
  );
});

it('a new predicate copies nothing of what was there before', () => {
  const all = LayeredMap.of(Array.from({ length: 5_000 }, (_, i) => [i, i] as const));
  const one = all.with(
    new Map([
      [7, undefined],
      [9, 90],
      [6_000, 1],
    ] as const),
  );
  expect(one.below).toBe(all.below);
  expect([7, 8, 9, 6_000].map((key) => one.get(key))).toEqual([undefined, 8, 90, 1]);
  const many = one.with(new Map(Array.from({ length: 2_000 }, (_, i) => [i, i % 2 ? -i : undefined] as const)));
  expect([7, 8, 9, 4_000, 6_000].map((key) => many.get(key))).toEqual([-7, undefined, -9, 4_000, 1]);
  expect([many.edits.size, all.get(7), one.get(9)]).toEqual([0, 7, 90]);
  expect(EMPTY_SCHEMA.with(1, new Map(), new Map(), 2).predicates).toBe(EMPTY_SCHEMA.predicates);
});
