import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createWorld, type World } from '../../../test/support/api-world.js';

// Under the rules of `@auth` any query answers as a graph would that holds only what its caller may see: whatever the query follows,
// filters by, sorts by, cuts off, counts or cascades over.

/** Whoever owns a thing, or the box it lies in, may see it. */
const rule = (type: string) => `@auth(query: { or: [
  { rule: "query($USER: String!) { query${type}(filter: { owner: { eq: $USER } }) { __typename } }" },
  { rule: "query($USER: String!) { query${type} { in(filter: { owner: { eq: $USER } }) { __typename } } }" }
] })`;
const definitions = (ruled: boolean) => `
  interface Thing {
    key: String! @id owner: String @search(by: [hash]) n: Int @search name: String @search(by: [term, exact])
    in: Box @hasInverse(field: things)
  }
  type Item implements Thing ${ruled ? rule('Item') : ''} { to: [Item] @hasInverse(field: from) from: [Item] one: Note }
  type Note implements Thing ${ruled ? rule('Note') : ''} { ones: [Item] @hasInverse(field: one) any: [Any] }
  type Box { key: String! @id owner: String @search(by: [hash]) things: [Thing] n: Int @search }
  union Any = Item | Note`;

interface Thing {
  readonly key: string;
  readonly kind: 'Item' | 'Note';
  readonly own: { readonly owner?: string; readonly n?: number; readonly name?: string };
  readonly box?: string;
  readonly to: readonly string[];
  readonly one?: string;
  readonly any: readonly string[];
}

interface Box {
  readonly key: string;
  readonly owner: string;
  readonly n: number;
}

const THINGS = 10;
const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
const other = fc.nat({ max: THINGS - 1 });
const user = fc.constantFrom('ann', 'bob');
const things = fc
  .array(
    fc.record({
      kind: fc.constantFrom('Item' as const, 'Note' as const),
      own: fc.record(
        { owner: user, n: fc.nat({ max: 4 }), name: fc.constantFrom('red', 'blue house', 'red house') },
        { requiredKeys: [] },
      ),
      box: optional(fc.constantFrom('b0', 'b1', 'b2')),
      to: fc.uniqueArray(other),
      one: optional(other),
      any: fc.uniqueArray(other),
    }),
    { minLength: THINGS, maxLength: THINGS },
  )
  .map((list): Thing[] => {
    const keysOf = (kind: string, uids: readonly number[]) =>
      uids.filter((at) => list[at].kind === kind).map((at) => `k${at}`);
    return list.map(({ kind, own, box, to, one, any }, i) => ({
      ...{ key: `k${i}`, kind, own, box },
      to: kind === 'Item' ? keysOf('Item', to) : [],
      one: kind === 'Item' && one !== undefined ? keysOf('Note', [one])[0] : undefined,
      any: kind === 'Note' ? any.map((at) => `k${at}`) : [],
    }));
  });
const boxes = fc
  .array(fc.record({ owner: user, n: fc.nat({ max: 4 }) }), { minLength: 3, maxLength: 3 })
  .map((list): Box[] => list.map((box, i) => ({ key: `b${i}`, ...box })));

/** Adds the things whose keys are kept, and the edges between them. */
async function fill(world: World, all: readonly Thing[], places: readonly Box[], keeps: (key: string) => boolean) {
  const kept = all.filter(({ key }) => keeps(key));
  const added = (kind: string) =>
    kept
      .filter((thing) => thing.kind === kind)
      .map(({ key, own, box }) => ({ key, ...own, ...(box === undefined ? {} : { in: { key: box } }) }));
  await world.data(
    `mutation ($boxes: [AddBoxInput!]!, $items: [AddItemInput!]!, $notes: [AddNoteInput!]!) {
      addBox(input: $boxes) { numUids } addItem(input: $items) { numUids } addNote(input: $notes) { numUids }
    }`,
    { boxes: places, items: added('Item'), notes: added('Note') },
  );
  const kindOf = new Map(all.map(({ key, kind }) => [key, kind]));
  for (const { key, kind, to, one, any } of kept) {
    const set =
      kind === 'Item'
        ? { to: to.filter(keeps).map((key) => ({ key })), ...(one && keeps(one) ? { one: { key: one } } : {}) }
        : { any: any.filter(keeps).map((key) => ({ [kindOf.get(key) === 'Item' ? 'itemRef' : 'noteRef']: { key } })) };
    await world.data(
      `mutation ($key: String!, $set: ${kind}Patch!) {
        update${kind}(input: { filter: { key: { eq: $key } }, set: $set }) { numUids }
      }`,
      { key, set },
    );
  }
}

type Kind = 'Item' | 'Note' | 'Thing';

const condition = fc.oneof(
  fc.nat({ max: 4 }).map((n) => `{n: {ge: ${n}}}`),
  fc.constantFrom(
    '{owner: {eq: "ann"}}',
    '{name: {anyofterms: "red"}}',
    '{has: name}',
    '{has: in}',
    '{has: [n, owner]}',
  ),
);
const BEYOND: Readonly<Record<Kind, readonly string[]>> = { Item: ['to', 'from', 'one'], Note: ['ones'], Thing: [] };

function filterOf(kind: Kind): fc.Arbitrary<string> {
  return fc.letrec<{ filter: string }>((tie) => ({
    filter: fc.oneof(
      { maxDepth: 2 },
      condition,
      tie('filter').map((one) => `{not: ${one}}`),
      fc.tuple(tie('filter'), tie('filter')).map((both) => `{and: [${both.join(', ')}]}`),
      fc.tuple(tie('filter'), tie('filter')).map((both) => `{or: [${both.join(', ')}]}`),
      fc.constantFrom('{in: {owner: {eq: "ann"}}}', '{in: {has: things}}', '{in: {n: {ge: 2}}}'),
      condition.map((one) => `{in: {things: ${one}}}`),
      ...BEYOND[kind].flatMap((edge) => [fc.constant(`{has: ${edge}}`), condition.map((one) => `{${edge}: ${one}}`)]),
    ),
  })).filter;
}

const filtered = (kind: Kind) => optional(filterOf(kind)).map((filter) => (filter ? `(filter: ${filter})` : ''));
const paged = (kind: Kind) =>
  fc
    .record({
      filter: optional(filterOf(kind)),
      order: fc.constantFrom('{asc: key}', '{desc: n, then: {asc: key}}', '{asc: name, then: {desc: key}}'),
      first: optional(fc.integer({ min: 1, max: 4 })),
      offset: optional(fc.nat({ max: 2 })),
    })
    .map((args) => Object.entries(args).filter(([, value]) => value !== undefined))
    .map((given) => `(${given.map(([name, value]) => `${name}: ${value}`).join(', ')})`);

const cascade = fc.constantFrom('', '', '@cascade', '@cascade(fields: ["name"])');

/** A field with its arguments and selections; `numbered` gives it an alias of its own, so that no two fields meet. */
function field(
  name: string,
  args: fc.Arbitrary<string>,
  selection: fc.Arbitrary<string>,
  directive: fc.Arbitrary<string> = fc.constant(''),
): fc.Arbitrary<string> {
  return fc.tuple(args, directive, selection).map((parts) => `${name}#: ${name}${parts.join(' ')}`);
}

function numbered(text: string): string {
  let count = 0;
  return text.replace(/#/g, () => String(count++));
}

const selections = fc.letrec<Record<'item' | 'note' | 'thing' | 'box' | 'any', string>>((tie) => {
  const some = (...fields: fc.Arbitrary<string>[]) =>
    fc.oneof(
      { maxDepth: 3 },
      fc.constant('{ key n }'),
      fc
        .subarray(fields)
        .chain((chosen) => fc.tuple(...chosen))
        .map((chosen) => `{ key ${chosen.join(' ')} }`),
    );
  const name = fc.constant('name');
  const aggregate = fc.constant('{ count nSum nMax nameMin }');
  return {
    item: some(
      name,
      field('to', paged('Item'), tie('item'), cascade),
      field('from', paged('Item'), tie('item')),
      field('one', filtered('Note'), tie('note')),
      field('in', fc.constant(''), tie('box')),
      field('toAggregate', filtered('Item'), aggregate),
    ),
    note: some(
      name,
      field('ones', paged('Item'), tie('item'), cascade),
      field('any', fc.constant(''), tie('any')),
      field('onesAggregate', filtered('Item'), aggregate),
    ),
    thing: some(
      name,
      tie('item').map((one) => `... on Item ${one}`),
      field('in', fc.constant(''), tie('box')),
    ),
    box: some(
      field('things', paged('Thing'), tie('thing'), cascade),
      field('thingsAggregate', filtered('Thing'), fc.constant('{ count nSum }')),
    ),
    any: fc.tuple(tie('item'), tie('note')).map(([item, note]) => `{ ... on Item ${item} ... on Note ${note} }`),
  };
});
const key = other.map((at) => `(key: "k${at}")`);
const query = fc
  .oneof(
    field('queryItem', paged('Item'), selections.item, cascade),
    field('queryNote', paged('Note'), selections.note),
    field('queryThing', paged('Thing'), selections.thing, cascade),
    field('queryBox', fc.constant('(order: {asc: key})'), selections.box),
    field('getItem', key, selections.item),
    field('getThing', key, selections.thing),
    field('aggregateItem', filtered('Item'), fc.constant('{ count nSum nMin nAvg nameMax }')),
    field('aggregateThing', filtered('Thing'), fc.constant('{ count nSum }')),
  )
  .map((root) => numbered(`{ ${root} }`));

/** Members of a union, which take no order, come in the order of their uids, which differ between the two graphs. */
function withSortedUnions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedUnions);
  if (typeof value !== 'object' || value === null) return value;
  const sorted = (held: unknown) => (held as unknown[]).map((one) => JSON.stringify(one)).sort();
  return Object.fromEntries(
    Object.entries(value).map(([name, held]) => {
      const inside = withSortedUnions(held);
      return [name, name.startsWith('any') ? sorted(inside) : inside];
    }),
  );
}

it('answers under rules as a graph would that holds only what its caller may see', async () => {
  await fc.assert(
    fc.asyncProperty(things, boxes, fc.array(query, { minLength: 20, maxLength: 20 }), async (all, places, queries) => {
      const ruled = await createWorld(definitions(false));
      await fill(ruled, all, places, () => true);
      await ruled.api.updateSchema(definitions(true));
      const own = new Set(places.filter(({ owner }) => owner === 'ann').map(({ key }) => key));
      const seen = all.filter((thing) => thing.own.owner === 'ann' || (thing.box !== undefined && own.has(thing.box)));
      const visible = new Set(seen.map(({ key }) => key));
      const plain = await createWorld(definitions(false));
      await fill(plain, all, places, (key) => visible.has(key));
      for (const text of queries) {
        const found = await ruled.data(text, {}, { claims: { USER: 'ann' } });
        expect(withSortedUnions(found), text).toEqual(withSortedUnions(await plain.data(text)));
      }
    }),
    { numRuns: 12 },
  );
});
