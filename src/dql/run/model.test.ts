import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openDql } from '../../../test/open-dql.js';

// Whole queries - nested blocks with filters, orders, pages, variables and @cascade - beside the plainest reading of what they mean.

interface Node {
  readonly uid: number;
  readonly name?: string;
  readonly n?: number;
  readonly tag: readonly string[];
  readonly to: readonly number[];
  readonly one?: number;
}

const SCHEMA = `here: bool @index(bool) . name: string @index(exact, term) . n: int @index(int) .
  tag: [string] @index(exact) . to: [uid] @reverse @count . one: uid .`;
const NAMES = ['red house', 'blue house', 'green tree', 'red tree', 'old'];
const TAGS = ['a', 'b', 'c'];
const NODES = 20;

const number = fc.integer({ min: -3, max: 4 });
const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
const nodes = fc
  .array(
    fc.record({
      name: optional(fc.constantFrom(...NAMES)),
      n: optional(number),
      tag: fc.uniqueArray(fc.constantFrom(...TAGS)),
      to: fc.uniqueArray(fc.integer({ min: 1, max: NODES })),
      one: optional(fc.integer({ min: 1, max: NODES })),
    }),
    { minLength: 2, maxLength: NODES },
  )
  .map((list): Node[] => {
    const isThere = (uid: number | undefined) => uid !== undefined && uid <= list.length;
    return list.map(({ to, one, ...node }, i) => ({
      ...node,
      uid: i + 1,
      to: to.filter(isThere).sort((a, b) => a - b),
      ...(isThere(one) ? { one } : {}),
    }));
  });

function rdf(graph: readonly Node[]): string {
  const lines = graph.flatMap(({ uid, name, n, tag, to, one }) => [
    `<${uid}> <here> "true" .`,
    ...(name === undefined ? [] : [`<${uid}> <name> "${name}" .`]),
    ...(n === undefined ? [] : [`<${uid}> <n> "${n}" .`]),
    ...tag.map((one) => `<${uid}> <tag> "${one}" .`),
    ...to.map((other) => `<${uid}> <to> <${other}> .`),
    ...(one === undefined ? [] : [`<${uid}> <one> <${one}> .`]),
  ]);
  return `{ set {\n${lines.join('\n')}\n} }`;
}

/** What a query is read on: the uids of the variable V, the values of the variable X. */
interface World {
  readonly graph: readonly Node[];
  readonly v: ReadonlySet<number>;
  readonly x: ReadonlyMap<number, number>;
}

type EdgeName = 'to' | '~to' | 'one';

function uidsOf(node: Node, edge: EdgeName, graph: readonly Node[]): readonly number[] {
  if (edge === 'to') return node.to;
  if (edge === 'one') return node.one === undefined ? [] : [node.one];
  return graph.filter(({ to }) => to.includes(node.uid)).map(({ uid }) => uid);
}

interface Filter {
  readonly text: string;
  holds(node: Node, world: World): boolean;
}

const COMPARE: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  eq: (a, b) => a === b,
  ge: (a, b) => a >= b,
  le: (a, b) => a <= b,
  gt: (a, b) => a > b,
  lt: (a, b) => a < b,
};

/** `read` undefined: the node has nothing to be compared, so that nothing holds. */
function compared(subject: string, read: (node: Node, world: World) => number | undefined): fc.Arbitrary<Filter> {
  return fc.tuple(fc.constantFrom(...Object.keys(COMPARE)), number).map(([call, bound]) => ({
    text: `${call}(${subject}, ${bound})`,
    holds: (node, world) => {
      const value = read(node, world);
      return value !== undefined && COMPARE[call](value, bound);
    },
  }));
}

const leafFilter: fc.Arbitrary<Filter> = fc.oneof(
  compared('n', ({ n }) => n),
  compared('val(X)', ({ uid }, { x }) => x.get(uid)),
  compared('count(to)', ({ to }) => to.length),
  compared('count(~to)', (node, { graph }) => uidsOf(node, '~to', graph).length),
  fc.constantFrom(
    { text: 'has(name)', holds: ({ name }: Node) => name !== undefined },
    { text: 'has(to)', holds: ({ to }: Node) => to.length > 0 },
    { text: 'has(~to)', holds: (node: Node, { graph }: World) => uidsOf(node, '~to', graph).length > 0 },
    { text: 'uid(V)', holds: ({ uid }: Node, { v }: World) => v.has(uid) },
    { text: 'anyofterms(name, "red tree")', holds: ({ name }: Node) => /red|tree/.test(name ?? '') },
    { text: 'ge(name, "green tree")', holds: ({ name }: Node) => name !== undefined && name >= 'green tree' },
    { text: 'eq(tag, ["a", "b"])', holds: ({ tag }: Node) => tag.includes('a') || tag.includes('b') },
    { text: 'uid_in(to, [1, 2])', holds: ({ to }: Node) => to.includes(1) || to.includes(2) },
    { text: 'uid(1, 3, 5)', holds: ({ uid }: Node) => [1, 3, 5].includes(uid) },
  ),
);

const { filter } = fc.letrec<{ filter: Filter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3 },
    leafFilter,
    tie('filter').map((a): Filter => ({ text: `not (${a.text})`, holds: (...of) => !a.holds(...of) })),
    fc.tuple(tie('filter'), tie('filter')).map(
      ([a, b]): Filter => ({
        text: `((${a.text}) and (${b.text}))`,
        holds: (...of) => a.holds(...of) && b.holds(...of),
      }),
    ),
    fc.tuple(tie('filter'), tie('filter')).map(
      ([a, b]): Filter => ({
        text: `((${a.text}) or (${b.text}))`,
        holds: (...of) => a.holds(...of) || b.holds(...of),
      }),
    ),
  ),
}));

interface Page {
  readonly order: readonly (readonly ['n' | 'name' | 'val(X)', boolean])[];
  readonly first?: number;
  readonly offset?: number;
  readonly after?: number;
}

const bySize = { first: optional(fc.integer({ min: 1, max: 5 })), offset: optional(fc.nat({ max: 3 })) };
const predicates = fc.constantFrom('n' as const, 'name' as const);
const page: fc.Arbitrary<Page> = fc.oneof(
  fc.record({ order: fc.constant([]), ...bySize, after: optional(fc.integer({ min: 1, max: 10 })) }),
  fc.record({ order: fc.constant([]), first: fc.integer({ min: -3, max: -1 }) }),
  fc.record({
    order: fc.uniqueArray(fc.tuple(predicates, fc.boolean()), { maxLength: 2, selector: ([key]) => key }),
    ...bySize,
  }),
  fc.record({ order: fc.boolean().map((descending) => [['val(X)' as const, descending] as const]), ...bySize }),
);

function pageText({ order, ...numbers }: Page): string[] {
  const given = Object.entries(numbers).filter(([, number]) => number !== undefined);
  const keys = order.map(([key, descending]) => `${descending ? 'orderdesc' : 'orderasc'}: ${key}`);
  return [...keys, ...given.map(([name, number]) => `${name}: ${number}`)];
}

interface Edge {
  readonly edge: EdgeName;
  readonly filter?: Filter;
  readonly page: Page;
  readonly fields: readonly Field[];
}

type Field = 'name' | 'n' | 'tag' | 'count(to)' | 'count(~to)' | 'val(X)' | Edge;

const { fields } = fc.letrec<{ fields: Field[]; field: Field }>((tie) => ({
  field: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Field>('name', 'n', 'tag', 'count(to)', 'count(~to)', 'val(X)'),
    fc.record({
      edge: fc.constantFrom<EdgeName>('to', '~to'),
      filter: optional(filter),
      page,
      fields: tie('fields'),
    }),
    fc.record({
      edge: fc.constant<EdgeName>('one'),
      filter: optional(filter),
      page: fc.constant<Page>({ order: [] }),
      fields: tie('fields'),
    }),
  ),
  fields: fc.uniqueArray(tie('field'), {
    maxLength: 4,
    selector: (field) => (typeof field === 'string' ? field : field.edge),
  }),
}));

function fieldText(field: Field): string {
  if (typeof field === 'string') return field;
  const args = pageText(field.page);
  const filtered = field.filter ? `@filter(${field.filter.text})` : '';
  return `${field.edge} ${args.length > 0 ? `(${args.join(', ')})` : ''} ${filtered} { uid ${field.fields.map(fieldText).join(' ')} }`;
}

/** What has no value comes last, and is left out by the order of a variable where others have one. */
function ordered(list: readonly Node[], { order }: Page, { x }: World): readonly Node[] {
  const valued = order[0]?.[0] === 'val(X)' && list.some(({ uid }) => x.has(uid));
  const kept = valued ? list.filter(({ uid }) => x.has(uid)) : [...list];
  return kept.sort((a, b) => {
    for (const [key, descending] of order) {
      const [left, right] = [a, b].map((node) => (key === 'val(X)' ? x.get(node.uid) : node[key]));
      if (left === undefined || right === undefined) {
        const missing = Number(left === undefined) - Number(right === undefined);
        if (missing !== 0) return missing;
        if (descending && order.length > 1) return b.uid - a.uid;
      } else if (left !== right) return (descending ? -1 : 1) * (left < right ? -1 : 1);
    }
    return a.uid - b.uid;
  });
}

function paged<T extends { readonly uid: number }>(
  list: readonly T[],
  { first, offset = 0, after = 0 }: Page,
): readonly T[] {
  const rest = list.filter(({ uid }) => uid > after).slice(offset);
  if (first === undefined) return rest;
  return first < 0 ? rest.slice(first) : rest.slice(0, first);
}

type Answer = Record<string, unknown>;

/** Undefined where a cascade takes the node away. */
function answerOf(node: Node, wanted: readonly Field[], world: World, cascade: boolean): Answer | undefined {
  const answer: Answer = { uid: `0x${node.uid.toString(16)}` };
  for (const field of wanted) {
    const value = fieldValue(node, field, world, cascade);
    const isMissing = value === undefined || (Array.isArray(value) && value.length === 0);
    if (!isMissing) answer[typeof field === 'string' ? field : field.edge] = value;
    else if (cascade && field !== 'val(X)') return undefined;
  }
  return answer;
}

function fieldValue(node: Node, field: Field, world: World, cascade: boolean): unknown {
  if (field === 'name' || field === 'n') return node[field];
  if (field === 'tag') return [...node.tag].sort();
  if (field === 'val(X)') return world.x.get(node.uid);
  if (field === 'count(to)') return node.to.length;
  if (field === 'count(~to)') return uidsOf(node, '~to', world.graph).length;
  const others = uidsOf(node, field.edge, world.graph).map((uid) => world.graph[uid - 1]);
  const answers = level(others, field, world, cascade);
  return field.edge === 'one' ? answers[0] : answers;
}

function level(of: readonly Node[], block: Omit<Edge, 'edge'>, world: World, cascade: boolean): Answer[] {
  const passing = of.filter((node) => block.filter?.holds(node, world) ?? true);
  const answers = ordered(passing, block.page, world).map((node) => ({
    uid: node.uid,
    answer: answerOf(node, block.fields, world, cascade),
  }));
  const whole = answers.filter(({ answer }) => answer !== undefined);
  return paged(whole, block.page).map(({ answer }) => answer!);
}

/** Members of a list predicate come in no certain order. */
function withSortedTags(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(withSortedTags);
  if (typeof answer !== 'object' || answer === null) return answer;
  const sorted = ([key, value]: [string, unknown]) => [
    key,
    key === 'tag' ? [...(value as string[])].sort() : withSortedTags(value),
  ];
  return Object.fromEntries(Object.entries(answer).map(sorted));
}

const ROOTS: readonly (readonly [text: string, holds: (node: Node) => boolean])[] = [
  ['has(here)', () => true],
  ['le(n, 2)', ({ n }) => n !== undefined && n <= 2],
  ['eq(tag, ["a", "b"])', ({ tag }) => tag.includes('a') || tag.includes('b')],
  ['ge(name, "d")', ({ name }) => name !== undefined && name >= 'd'],
  ['anyofterms(name, "red tree")', ({ name }) => /red|tree/.test(name ?? '')],
  ['ge(count(to), 2)', ({ to }) => to.length >= 2],
  ['uid(1, 2)', ({ uid }) => uid <= 2],
];

const query = fc.record({
  root: fc.constantFrom(...ROOTS),
  block: fc.record({ filter: optional(filter), page, fields }),
  cascade: fc.boolean(),
  v: fc.constantFrom(...ROOTS),
});

it('answers whole queries as their plainest reading does', async () => {
  await fc.assert(
    fc.asyncProperty(nodes, fc.array(query, { minLength: 10, maxLength: 10 }), async (graph, queries) => {
      const dql = await openDql({ schema: SCHEMA });
      await dql.mutate(rdf(graph));
      for (const { root, block, cascade, v } of queries) {
        const args = [root[0], ...pageText(block.page)].join(', ');
        const filtered = block.filter ? `@filter(${block.filter.text})` : '';
        const { q } = await dql.query(`{
          var(func: ${v[0]}) { V as uid }
          var(func: has(n)) { n as n X as math(n * 2) }
          q(func: ${args}) ${filtered} ${cascade ? '@cascade' : ''} { uid ${block.fields.map(fieldText).join(' ')} }
          used(func: uid(V), first: 0) { val(X) }
        }`);
        const world = {
          graph,
          v: new Set(graph.filter(v[1]).map(({ uid }) => uid)),
          x: new Map(graph.flatMap(({ uid, n }) => (n === undefined ? [] : [[uid, n * 2] as const]))),
        };
        expect(withSortedTags(q)).toEqual(level(graph.filter(root[1]), block, world, cascade));
      }
      await dql.close();
    }),
    { numRuns: 40 },
  );
});
