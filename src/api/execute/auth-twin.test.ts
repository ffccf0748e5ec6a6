import fc from 'fast-check';
import { expect, it } from 'vitest';
import { contextOf, createWorld, type World } from '../../../test/support/api-world.js';
import type { Transaction } from '../../graph/index.js';
import type { RequestContext } from '../operation.js';

// Two graphs that differ only in what hidden nodes hold give their caller the same answers, to the byte: data, errors and counts,
// whatever is asked and changed. What a node holds is then told by nothing.

const SEES = {
  owner: '{ rule: "query ($USER: String!) { queryThing(filter: { owner: { eq: $USER } }) { key } }" }',
  box: `{ or: [
    { rule: "query ($USER: String!) { queryThing(filter: { owner: { eq: $USER } }) { key } }" }
    { rule: "query ($USER: String!) { queryThing { box(filter: { label: { eq: $USER } }) { key } } }" }
  ] }`,
} as const;
const MINE = '{ rule: "query ($USER: String!) { queryItem(filter: { owner: { eq: $USER } }) { key } }" }';
const NOTHING = '{ rule: "{$ROLE: { eq: \\"none\\" } }" }';

interface Rules {
  readonly query: keyof typeof SEES;
  readonly add: string | undefined;
  readonly update: string | undefined;
  readonly delete: string | undefined;
}

const definitions = (rules: Rules): string => {
  const changing = (['add', 'update', 'delete'] as const).flatMap((action) =>
    rules[action] === undefined ? [] : `${action}: ${rules[action]}`,
  );
  return `
    interface Thing @auth(query: ${SEES[rules.query]}) {
      key: String! @id owner: String @search(by: [hash]) n: Int @search text: String @search(by: [term, hash])
      box: Box @hasInverse(field: things)
    }
    type Item implements Thing ${changing.length > 0 ? `@auth(${changing.join(' ')})` : ''} @key(fields: "key") {
      v: [Float!] @embedding @search(by: ["hnsw(metric: euclidean, exponent: 4)"])
      to: [Item] @hasInverse(field: from) from: [Item]
    }
    type Note implements Thing { about: [Item] }
    type Box { key: String! @id label: String @search(by: [hash]) things: [Thing] }`;
};

interface Own {
  readonly owner?: string;
  readonly n?: number;
  readonly text?: string;
  readonly v?: readonly number[];
}
interface Node {
  readonly kind: 'Item' | 'Note';
  readonly seen: boolean;
  readonly box: number | undefined;
  readonly to: readonly number[];
  /** what it holds in the one graph and, where it is hidden, in the other */
  readonly holds: readonly [Own, Own];
}

const COUNT = 8;
const at = fc.nat({ max: COUNT - 1 });
const number = fc.nat({ max: 3 });
const text = fc.constantFrom('red', 'blue', 'red house');
const own = (owner: fc.Arbitrary<string>): fc.Arbitrary<Own> =>
  fc.record({ owner, n: number, text, v: fc.tuple(number, number) }, { requiredKeys: ['owner'] });
const node: fc.Arbitrary<Node> = fc.boolean().chain((seen) => {
  const holds = own(seen ? fc.constant('eve') : fc.constantFrom('ann', 'bob'));
  return fc.record({
    kind: fc.constantFrom('Item', 'Item', 'Note'),
    seen: fc.constant(seen),
    box: fc.option(fc.nat({ max: 1 }), { nil: undefined }),
    to: fc.uniqueArray(at, { maxLength: 3 }),
    holds: seen ? holds.map((one): [Own, Own] => [one, one]) : fc.tuple(holds, holds),
  });
});
const nodes = fc.array(node, { minLength: COUNT, maxLength: COUNT });

/** Whoever may see what lies in a box of his sees it in both graphs. */
const isSeen = ({ query }: Rules, { seen, box }: Node): boolean => seen || (query === 'box' && box === 0);

const referring = (keys: readonly string[]): string => `[${keys.map((key) => `{key: "${key}"}`).join(', ')}]`;

async function filled(rules: Rules, all: readonly Node[], which: 0 | 1): Promise<World> {
  const world = await createWorld(definitions(rules));
  const trusted = { trusted: true } as const;
  const added = (kind: Node['kind']) =>
    all.flatMap((each, i) => {
      if (each.kind !== kind) return [];
      const { v, ...held } = each.holds[which];
      const box = each.box === undefined ? {} : { box: { key: `b${each.box}` } };
      return [{ key: `k${i}`, ...held, ...(kind === 'Item' && v ? { v } : {}), ...box }];
    });
  await world.data(
    `mutation ($items: [AddItemInput!]!, $notes: [AddNoteInput!]!) {
      addBox(input: [{key: "b0", label: "eve"}, {key: "b1", label: "ann"}]) { numUids }
      addItem(input: $items) { numUids } addNote(input: $notes) { numUids }
    }`,
    { items: added('Item'), notes: added('Note') },
    trusted,
  );
  // between hidden nodes only the one graph has edges
  const isKept = (from: number, to: number) => which === 0 || isSeen(rules, all[from]) || isSeen(rules, all[to]);
  for (const [i, { kind, to }] of all.entries()) {
    const keys = to.filter((each) => all[each].kind === 'Item' && isKept(i, each)).map((each) => `k${each}`);
    const set = `${kind === 'Item' ? 'to' : 'about'}: ${referring(keys)}`;
    await world.data(
      `mutation { update${kind}(input: {filter: {key: {eq: "k${i}"}}, set: {${set}}}) { numUids } }`,
      {},
      trusted,
    );
  }
  return world;
}

const key = at.map((i) => `k${i}`);
const condition = fc.oneof(
  number.map((n) => `{n: {ge: ${n}}}`),
  text.map((words) => `{text: {eq: "${words}"}}`),
  fc.constantFrom('{has: n}', '{has: text}', '{owner: {eq: "ann"}}', '{owner: {in: ["bob", "eve"]}}'),
);
const filter: fc.Arbitrary<string> = fc.letrec<{ filter: string }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 2 },
    condition,
    tie('filter').map((one) => `{not: ${one}}`),
    fc
      .tuple(fc.constantFrom('and', 'or'), tie('filter'), tie('filter'))
      .map(([how, ...both]) => `{${how}: [${both.join(', ')}]}`),
    condition.map((one) => `{box: {things: ${one}}}`),
    fc.tuple(key, condition).map(([one, other]) => `{key: {eq: "${one}"}, and: [${other}]}`),
  ),
})).filter;
const ofItem = fc.oneof(
  filter,
  fc.tuple(fc.constantFrom('to', 'from'), condition).map(([edge, one]) => `{${edge}: ${one}}`),
);
const naming = fc.oneof(
  fc.constant('{}'),
  fc.uniqueArray(key, { minLength: 1 }).map((keys) => `{key: {in: ${JSON.stringify(keys)}}}`),
);
const order = fc.constantFrom(
  '{asc: n, then: {asc: key}}',
  '{desc: text, then: {asc: key}}',
  '{box: {asc: label}, then: {asc: key}}',
  '{asc: key}',
);
const cascade = fc.constantFrom('', '@cascade', '@cascade(fields: ["n"])');
const ITEM =
  'id: key n text v to(order: {desc: n, then: {asc: key}}, first: 2) { key n } fromAggregate { count nSum textMin } box { key }';

const questions = fc.oneof(
  fc
    .tuple(ofItem, order, fc.integer({ min: 1, max: 4 }), cascade)
    .map(([by, to, first, c]) => `queryItem(filter: ${by}, order: ${to}, first: ${first}) ${c} { ${ITEM} }`),
  fc
    .tuple(filter, order, cascade)
    .map(
      ([by, to, c]) =>
        `queryBox(order: {asc: key}) { key things(filter: ${by}, order: ${to}) ${c} { key n __typename } }`,
    ),
  filter.map(
    (by) => `queryBox(filter: {things: ${by}}, order: {asc: key}) { thingsAggregate(filter: ${by}) { count nMax } }`,
  ),
  fc
    .tuple(key, fc.integer({ min: 1, max: 3 }))
    .map(([one, k]) => `querySimilarItemById(by: v, topK: ${k}, key: "${one}") { key vector_distance }`),
  fc
    .tuple(number, ofItem)
    .map(
      ([x, by]) =>
        `querySimilarItemByEmbedding(by: v, topK: 2, vector: [${x}, 1], filter: ${by}) { key vector_distance }`,
    ),
  fc
    .uniqueArray(key, { minLength: 1 })
    .map((keys) => keys.map((one) => `{__typename: "Item", key: "${one}"}`))
    .map((all) => `_entities(representations: [${all.join(', ')}]) { ... on Item { ${ITEM} } }`),
  fc
    .tuple(ofItem, key)
    .map(([by, one]) => `aggregateItem(filter: ${by}) { count nAvg textMax } getThing(key: "${one}") { key text }`),
);

const change = fc.oneof(
  number.map((n) => `n: ${n}`),
  text.map((words) => `text: "${words}"`),
  fc.constantFrom('n: null', 'text: null', 'to: null'),
  key.map((one) => `to: [{key: "${one}"}]`),
);
const fresh = fc.constantFrom('k0', 'k1', 'f0');
const SHOWN = `{ numUids item(order: {asc: key}) { ${ITEM} } }`;
const mutations = fc.oneof(
  fc
    .tuple(fc.oneof(ofItem, naming), fc.constantFrom('set', 'set', 'remove'), change)
    .map(([by, how, what]) => `updateItem(input: {filter: ${by}, ${how}: {${what}}}) ${SHOWN}`),
  fc.tuple(ofItem, fresh).map(([by, one]) => `updateItem(input: {filter: ${by}, set: {key: "${one}"}}) ${SHOWN}`),
  fc
    .tuple(fc.oneof(filter, naming), number)
    .map(
      ([by, n]) => `updateThing(input: {filter: ${by}, set: {n: ${n}}}) { numUids thing(order: {asc: key}) { key n } }`,
    ),
  fc
    .tuple(ofItem, ofItem, change)
    .map(
      ([by, below, what]) =>
        `updateItem(input: {filter: ${by}, nested: {to: {filter: ${below}, set: {${what}}}}}) ${SHOWN}`,
    ),
  fc.oneof(ofItem, naming).map((by) => `deleteItem(filter: ${by}) { msg ${SHOWN.slice(1)}`),
  fc
    .tuple(ofItem, ofItem)
    .map(([by, below]) => `deleteItem(filter: ${by}, cascade: {to: {filter: ${below}}}) { msg ${SHOWN.slice(1)}`),
  // an upsert that made what is there his own would show it
  fc.tuple(fresh, change, fc.constantFrom('owner: "eve", ', '')).map(([one, what, his]) => {
    return `addItem(input: [{key: "${one}", ${his}${what}}], upsert: ${his === ''}) ${SHOWN}`;
  }),
);

const open = fc.constantFrom(undefined, MINE, NOTHING);
const rules = fc.record<Rules>({ query: fc.constantFrom('owner', 'box'), add: open, update: open, delete: open });
const texts = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: questions.map((one) => `{ ${one} }`) },
    mutations.map((one) => `mutation { ${one} }`),
  ),
  { minLength: 12, maxLength: 12 },
);
const EVE = { claims: { USER: 'eve', ROLE: 'user' } } as const;

/** The same nodes where whoever asks sees all of what differs. */
const alikeFor = (given: Rules, all: readonly Node[]): readonly Node[] =>
  all.map((each) => (isSeen(given, each) ? { ...each, holds: [each.holds[0], each.holds[0]] } : each));

async function answerOf({ api }: World, query: string, context: Partial<RequestContext>, within?: Transaction) {
  const { body, headers } = await api.execute({ query }, contextOf(context), { transaction: within });
  return [JSON.parse(body.toString('utf8')), headers];
}

it('tells nothing of what hidden nodes hold, by whatever is asked or changed', async () => {
  await fc.assert(
    fc.asyncProperty(rules, nodes, texts, async (given, all, asked) => {
      const alike = alikeFor(given, all);
      const worlds = [await filled(given, alike, 0), await filled(given, alike, 1)];
      for (const query of asked) {
        const [first, second] = await Promise.all(worlds.map((world) => answerOf(world, query, EVE)));
        expect(second, query).toEqual(first);
      }
    }),
    { numRuns: 12, interruptAfterTimeLimit: 60_000 },
  );
});

// What a function asks as its caller in `graph.transaction`, beside what the app wrote there by itself.
it('answers in a transaction what it answers after each commit, and tells as little', async () => {
  const trusted = { trusted: true } as const;
  const own =
    'mutation { addItem(input: [{key: "a0", owner: "eve", n: 1, to: [{key: "a1", owner: "ann"}]}]) { numUids } }';
  const everything = `{
    queryItem(order: {asc: key}) { ${ITEM} owner } queryNote(order: {asc: key}) { key n text about(order: {asc: key}) { key } }
    queryBox(order: {asc: key}) { key things(order: {asc: key}) { key owner } }
  }`;
  await fc.assert(
    fc.asyncProperty(rules, nodes, texts, async (given, all, asked) => {
      const alike = alikeFor(given, all);
      const [apart, one, other] = [
        await filled(given, alike, 0),
        await filled(given, alike, 0),
        await filled(given, alike, 1),
      ];
      const [within, withinOther] = [await one.graph.begin(), await other.graph.begin()];
      const ask = async (query: string, context: Partial<RequestContext>) => [
        await answerOf(apart, query, context),
        await answerOf(one, query, context, within),
        await answerOf(other, query, context, withinOther),
      ];
      await ask(own, trusted);
      for (const query of asked) {
        const [committed, first, second] = await ask(query, EVE);
        expect(first, query).toEqual(committed);
        expect(second, query).toEqual(first);
      }
      await within.commit();
      expect(await answerOf(one, everything, trusted)).toEqual(await answerOf(apart, everything, trusted));
      await withinOther.abort();
    }),
    { numRuns: 8, interruptAfterTimeLimit: 60_000 },
  );
});
