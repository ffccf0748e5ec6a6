import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createWorld, type Tree, type World } from '../../../test/support/api-world.js';

// Under rules of every kind, put together at random, each caller sees and changes exactly what a plain model of the graph says.

type Kind = 'Item' | 'Note';
type Action = 'query' | 'add' | 'update' | 'delete';
type EdgeName = 'to' | 'from' | 'one' | 'ones';

/** Every edge has another end that is kept in step. */
const EDGES = {
  to: { of: 'Item', target: 'Item', back: 'from', list: true },
  from: { of: 'Item', target: 'Item', back: 'to', list: true },
  one: { of: 'Item', target: 'Note', back: 'ones', list: false },
  ones: { of: 'Note', target: 'Item', back: 'one', list: true },
} as const satisfies Record<EdgeName, { of: Kind; target: Kind; back: EdgeName; list: boolean }>;
const edgesOf = (kind: Kind) => (Object.keys(EDGES) as EdgeName[]).filter((name) => EDGES[name].of === kind);

interface Node {
  readonly key: string;
  readonly kind: Kind;
  owner?: string;
  n?: number;
  readonly edges: Record<EdgeName, Set<string>>;
}
type Model = Map<string, Node>;

function nodeOf(key: string, kind: Kind, own: Pick<Node, 'owner' | 'n'>): Node {
  return { key, kind, ...own, edges: { to: new Set(), from: new Set(), one: new Set(), ones: new Set() } };
}

const copyOf = (model: Model): Model =>
  new Map(
    [...model].map(([key, { edges, ...node }]) => [
      key,
      {
        ...node,
        edges: { to: new Set(edges.to), from: new Set(edges.from), one: new Set(edges.one), ones: new Set(edges.ones) },
      },
    ]),
  );

const reached = (model: Model, node: Node, edge: EdgeName): Node[] =>
  [...node.edges[edge]].map((key) => model.get(key) as Node);

interface Caller {
  readonly USER: string;
  readonly ROLE: string;
}
type Sees = (node: Node) => boolean;

/** A filter, as text and as what it means. */
interface Condition {
  readonly text: string;
  readonly edges: readonly EdgeName[];
  /** it only says which nodes are meant, and so finds those too that its caller may not see */
  readonly names?: boolean;
  meets(model: Model, node: Node, sees: Sees, caller: Caller): boolean;
}

/** A rule of @auth, in the same two ways. */
interface Rule {
  readonly text: string;
  /** that it looks through */
  readonly edges: readonly EdgeName[];
  passes(model: Model, node: Node, caller: Caller): boolean;
}
type Owner = Kind | 'Thing';
type Rules = Readonly<Record<Owner, Partial<Record<Action, Rule>>>>;

const users = fc.constantFrom('ann', 'bob', 'cat');
const numbers = fc.nat({ max: 3 });
const plain = (text: string, meets: (node: Node, caller: Caller) => boolean): Condition => ({
  text,
  edges: [],
  meets: (_model, node, _sees, caller) => meets(node, caller),
});

const simple = (ofCaller: boolean): fc.Arbitrary<Condition> =>
  fc.oneof(
    users.map((user) => plain(`{owner: {eq: "${user}"}}`, ({ owner }) => owner === user)),
    numbers.map((least) => plain(`{n: {ge: ${least}}}`, ({ n }) => n !== undefined && n >= least)),
    fc.constant(plain('{has: owner}', ({ owner }) => owner !== undefined)),
    ...(ofCaller ? [fc.constant(plain('{owner: {eq: $USER}}', ({ owner }, { USER }) => owner === USER))] : []),
  );

function through(edge: EdgeName, beyond: Condition | undefined): Condition {
  return {
    text: beyond ? `{${edge}: ${beyond.text}}` : `{has: ${edge}}`,
    edges: [edge, ...(beyond?.edges ?? [])],
    meets: (model, node, sees, caller) =>
      reached(model, node, edge).some((next) => sees(next) && (beyond?.meets(model, next, sees, caller) ?? true)),
  };
}

function joined(how: 'and' | 'or', parts: readonly Condition[]): Condition {
  return {
    text: `{${how}: [${parts.map(({ text }) => text)}]}`,
    edges: parts.flatMap(({ edges }) => edges),
    meets: (...given) => parts[how === 'and' ? 'every' : 'some']((part) => part.meets(...given)),
  };
}

function negated(of: Condition): Condition {
  return { text: `{not: ${of.text}}`, edges: of.edges, meets: (...given) => !of.meets(...given) };
}

function conditionOf(owner: Owner, ofCaller: boolean, depth = 2): fc.Arbitrary<Condition> {
  if (depth === 0) return simple(ofCaller);
  const inner = conditionOf(owner, ofCaller, depth - 1);
  const edges = owner === 'Thing' ? [] : edgesOf(owner);
  return fc.oneof(
    simple(ofCaller),
    inner.map(negated),
    fc.tuple(fc.constantFrom('and', 'or'), fc.tuple(inner, inner)).map(([how, parts]) => joined(how, parts)),
    ...edges.map((edge) =>
      fc
        .option(conditionOf(EDGES[edge].target, ofCaller, depth - 1), { nil: undefined })
        .map((one) => through(edge, one)),
    ),
  );
}

const everything: Sees = () => true;

/** A rule sees every node, whoever asks. */
const graphRule = (owner: Owner): fc.Arbitrary<Rule> =>
  conditionOf(owner, true).map((condition) => {
    const claims = condition.text.includes('$USER') ? '($USER: String!)' : '';
    return {
      text: `{rule: ${JSON.stringify(`query ${claims} { query${owner}(filter: ${condition.text}) { __typename } }`)}}`,
      edges: condition.edges,
      passes: (model, node, caller) => condition.meets(model, node, everything, caller),
    };
  });

const claimRule: fc.Arbitrary<Rule> = fc
  .constantFrom<[string, string]>(['eq', '"admin"'], ['in', '["admin", "none"]'], ['regexp', '"/^adm/"'])
  .map(([operator, value]) => ({
    text: `{rule: ${JSON.stringify(`{$ROLE: {${operator}: ${value}}}`)}}`,
    edges: [],
    passes: (_model, _node, { ROLE }) => ROLE === 'admin',
  }));

function ruleOf(owner: Owner, depth = 2): fc.Arbitrary<Rule> {
  const leaf = fc.oneof({ weight: 3, arbitrary: graphRule(owner) }, claimRule);
  if (depth === 0) return leaf;
  const inner = ruleOf(owner, depth - 1);
  return fc.oneof(
    { weight: 2, arbitrary: leaf },
    inner.map(
      ({ text, edges, passes }): Rule => ({
        text: `{not: ${text}}`,
        edges,
        passes: (...given) => !passes(...given),
      }),
    ),
    fc.tuple(fc.constantFrom('and', 'or'), inner, inner).map(
      ([how, ...both]): Rule => ({
        text: `{${how}: [${both.map(({ text }) => text)}]}`,
        edges: both.flatMap(({ edges }) => edges),
        passes: (...given) => both[how === 'and' ? 'every' : 'some']((one) => one.passes(...given)),
      }),
    ),
  );
}

const rulesOfType = (owner: Owner) =>
  fc.record(
    { query: ruleOf(owner), add: ruleOf(owner), update: ruleOf(owner), delete: ruleOf(owner) },
    { requiredKeys: [] },
  );
const allRules: fc.Arbitrary<Rules> = fc.record({
  Thing: rulesOfType('Thing'),
  Item: rulesOfType('Item'),
  Note: rulesOfType('Note'),
});

function definitions(rules: Rules): string {
  const auth = (owner: Owner) => {
    const given = Object.entries(rules[owner]).map(([action, { text }]) => `${action}: ${text}`);
    return given.length > 0 ? `@auth(${given.join(' ')})` : '';
  };
  return `
    interface Thing ${auth('Thing')} { key: String! @id owner: String @search(by: [hash]) n: Int @search }
    type Item implements Thing ${auth('Item')} { to: [Item] @hasInverse(field: from) from: [Item] one: Note }
    type Note implements Thing ${auth('Note')} { ones: [Item] @hasInverse(field: one) }`;
}

/** Its own rule and that of its interface: both must hold. */
const may = (rules: Rules, model: Model, node: Node, action: Action, caller: Caller): boolean =>
  [rules.Thing[action], rules[node.kind][action]].every((rule) => rule?.passes(model, node, caller) ?? true);

/** What a change does to the model; nodes that have to be open to updates by it gather in `also`. */
class Change {
  readonly after: Model;
  readonly also = new Set<string>();
  readonly #before: Model;
  readonly #guarded: ReadonlySet<EdgeName>;

  constructor(before: Model, rules: Rules) {
    this.#before = before;
    this.after = copyOf(before);
    this.#guarded = new Set(Object.values(rules).flatMap((own) => Object.values(own).flatMap(({ edges }) => edges)));
  }

  link(from: string, edge: EdgeName, to: string): void {
    const { back } = EDGES[edge];
    this.#hold(from, edge, to);
    this.#noteOtherEnd(to, back, from, false);
    this.#hold(to, back, from);
  }

  unlink(from: string, edge: EdgeName, to: string): void {
    const { back } = EDGES[edge];
    this.#noteOtherEnd(to, back, from, true);
    this.after.get(from)?.edges[edge].delete(to);
    this.after.get(to)?.edges[back].delete(from);
  }

  /** An edge that rules look through is written from its other end by who may update the node. */
  #noteOtherEnd(key: string, edge: EdgeName, to: string, isThere: boolean): void {
    const before = this.#before.get(key);
    if (before && this.#guarded.has(edge) && before.edges[edge].has(to) === isThere) this.also.add(key);
  }

  /** A single edge lets go of what it held, which then has changed, too. */
  #hold(from: string, edge: EdgeName, to: string): void {
    const held = this.after.get(from)?.edges[edge] as Set<string>;
    for (const old of EDGES[edge].list ? [] : held) {
      if (old === to) continue;
      held.delete(old);
      this.after.get(old)?.edges[EDGES[edge].back].delete(from);
      if (this.#before.get(from)?.edges[edge].has(old)) this.also.add(old);
    }
    held.add(to);
  }
}

interface Wanted {
  readonly how: 'add' | 'update' | 'delete';
  readonly kind: Kind;
  readonly filter: Condition;
  readonly own: Pick<Node, 'owner' | 'n'>;
  readonly set: Partial<Record<EdgeName, readonly number[]>>;
  readonly remove: Partial<Record<EdgeName, readonly number[]>>;
}

const COUNT = 8;
/** The filters of a mutation that ask nothing of what its nodes hold. */
const naming: fc.Arbitrary<Condition> = fc.oneof(
  fc.constant({ ...plain('{}', () => true), names: true }),
  fc.uniqueArray(fc.nat({ max: COUNT - 1 }), { minLength: 1 }).map((all) => {
    const keys = all.map((i) => `k${i}`);
    return { ...plain(`{key: {in: ${JSON.stringify(keys)}}}`, ({ key }) => keys.includes(key)), names: true };
  }),
);
const some = fc.uniqueArray(fc.nat({ max: COUNT - 1 }), { maxLength: 2 });
const own = fc.record({ owner: users, n: numbers }, { requiredKeys: [] });
const edges = fc.record({ to: some, from: some, one: some, ones: some }, { requiredKeys: [] });
const wanted: fc.Arbitrary<Wanted> = fc.constantFrom<Kind>('Item', 'Note').chain((kind) =>
  fc.record({
    how: fc.constantFrom('add', 'update', 'update', 'delete'),
    kind: fc.constant(kind),
    filter: fc.oneof({ weight: 3, arbitrary: conditionOf(kind, false) }, naming),
    own,
    set: edges,
    remove: edges,
  }),
);
const callers = fc.record({ USER: users, ROLE: fc.constantFrom('admin', 'user') });
const nodes = fc.array(fc.record({ kind: fc.constantFrom<Kind>('Item', 'Note'), own, edges }), {
  minLength: COUNT,
  maxLength: COUNT,
});

/** The edges that an input can name: of the kind, to nodes that are there. */
function namedIn(model: Model, kind: Kind, given: Wanted['set']): [EdgeName, string[]][] {
  return edgesOf(kind).flatMap((edge): [EdgeName, string[]][] => {
    const { target, list } = EDGES[edge];
    const keys = (given[edge] ?? []).map((i) => `k${i}`).filter((key) => model.get(key)?.kind === target);
    return keys.length === 0 ? [] : [[edge, list ? keys : keys.slice(0, 1)]];
  });
}

const referring = (named: readonly [EdgeName, readonly string[]][]) =>
  Object.fromEntries(
    named.map(([edge, keys]) => {
      const references = keys.map((key) => ({ key }));
      return [edge, EDGES[edge].list ? references : references[0]];
    }),
  );

interface Expected {
  readonly text: string;
  readonly variables: object;
  /** undefined: the rules refuse it */
  readonly after?: Model;
  readonly touched: readonly string[];
}

function expectedOf(rules: Rules, model: Model, caller: Caller, change: Wanted, fresh: string): Expected {
  const { how, kind, filter } = change;
  const sees: Sees = (node) => may(rules, model, node, 'query', caller);
  const made = new Change(model, rules);
  const set = namedIn(model, kind, change.set);
  const remove = how === 'update' ? namedIn(model, kind, change.remove) : [];
  const touched =
    how === 'add'
      ? [fresh]
      : [...model.values()]
          .filter(
            (node) =>
              node.kind === kind &&
              filter.meets(model, node, sees, caller) &&
              (filter.names || sees(node)) &&
              may(rules, model, node, how, caller),
          )
          .map(({ key }) => key);
  for (const key of touched) for (const [edge, keys] of remove) for (const to of keys) made.unlink(key, edge, to);
  for (const key of touched) {
    if (how === 'delete') {
      for (const { edges: held } of made.after.values()) for (const keys of Object.values(held)) keys.delete(key);
      made.after.delete(key);
      continue;
    }
    if (how === 'add') made.after.set(key, nodeOf(key, kind, {}));
    Object.assign(made.after.get(key) as Node, change.own);
    for (const [edge, keys] of set) for (const to of keys) made.link(key, edge, to);
  }
  const isOpen =
    [...made.also].every((key) => may(rules, model, model.get(key) as Node, 'update', caller)) &&
    (how !== 'add' || may(rules, made.after, made.after.get(fresh) as Node, 'add', caller));
  const values = { ...change.own, ...referring(set) };
  const shown = `{ numUids ${kind.toLowerCase()}(order: {asc: key}) { key } }`;
  const text = {
    add: `mutation ($set: Add${kind}Input!) { done: add${kind}(input: [$set]) ${shown} }`,
    update: `mutation ($set: ${kind}Patch, $remove: ${kind}Patch) {
      done: update${kind}(input: {filter: ${filter.text}, set: $set, remove: $remove}) ${shown}
    }`,
    delete: `mutation { done: delete${kind}(filter: ${filter.text}) ${shown} }`,
  }[how];
  const variables = how === 'add' ? { set: { key: fresh, ...values } } : { set: values, remove: referring(remove) };
  return { text, variables, touched, ...(isOpen ? { after: made.after } : {}) };
}

const SHOWN = `{
  queryItem(order: {asc: key}) { key owner n to(order: {asc: key}) { key } from(order: {asc: key}) { key } one { key } toAggregate { count } }
  queryNote(order: {asc: key}) { key owner n ones(order: {asc: key}) { key } }
  queryThing(order: {asc: key}) { key }
}`;

/** What `SHOWN` answers to whoever sees these nodes. */
function shownOf(model: Model, sees: Sees): object {
  const all = [...model.values()].filter(sees).sort((a, b) => (a.key < b.key ? -1 : 1));
  const to = (node: Node, edge: EdgeName) => {
    const keys = reached(model, node, edge)
      .filter(sees)
      .map(({ key }) => ({ key }));
    return keys.sort((a, b) => (a.key < b.key ? -1 : 1));
  };
  const base = ({ key, owner, n }: Node) => ({ key, owner: owner ?? null, n: n ?? null });
  const items = all.filter(({ kind }) => kind === 'Item');
  const notes = all.filter(({ kind }) => kind === 'Note');
  return {
    queryItem: items.map((node) => ({
      ...base(node),
      ...{ to: to(node, 'to'), from: to(node, 'from'), one: to(node, 'one')[0] ?? null },
      toAggregate: { count: to(node, 'to').length },
    })),
    queryNote: notes.map((node) => ({ ...base(node), ones: to(node, 'ones') })),
    queryThing: all.map(({ key }) => ({ key })),
  };
}

/** Where claims alone hide a whole type, an aggregate over it is null. */
function counted(answer: Record<string, Tree>): object {
  const items = answer.queryItem.map((item: Tree) => ({ ...item, toAggregate: item.toAggregate ?? { count: 0 } }));
  return { ...answer, queryItem: items };
}

const TRUSTED = { trusted: true } as const;

async function fill(world: World, model: Model): Promise<void> {
  for (const { key, kind, owner, n } of model.values()) {
    const set = { key, ...(owner ? { owner } : {}), ...(n === undefined ? {} : { n }) };
    await world.data(`mutation ($set: Add${kind}Input!) { add${kind}(input: [$set]) { numUids } }`, { set }, TRUSTED);
  }
  for (const { key, kind, edges: held } of model.values()) {
    const set = referring(
      edgesOf(kind).flatMap((edge): [EdgeName, string[]][] => (held[edge].size > 0 ? [[edge, [...held[edge]]]] : [])),
    );
    await world.data(
      `mutation ($set: ${kind}Patch) { update${kind}(input: {filter: {key: {eq: "${key}"}}, set: $set}) { numUids } }`,
      { set },
      TRUSTED,
    );
  }
}

it('lets each caller see and change what a model of the rules says, and nothing else', async () => {
  const changes = fc.array(fc.tuple(callers, wanted), { minLength: 10, maxLength: 10 });
  await fc.assert(
    fc.asyncProperty(allRules, nodes, changes, async (rules, given, all) => {
      let model: Model = new Map(given.map(({ kind, own: values }, i) => [`k${i}`, nodeOf(`k${i}`, kind, values)]));
      const filled = new Change(model, rules);
      given.forEach(({ kind, edges: held }, i) => {
        for (const [edge, keys] of namedIn(model, kind, held)) for (const to of keys) filled.link(`k${i}`, edge, to);
      });
      model = filled.after;
      const world = await createWorld(definitions(rules));
      await fill(world, model);
      for (const [i, [caller, change]] of all.entries()) {
        const { text, variables, after, touched } = expectedOf(rules, model, caller, change, `x${i}`);
        const context = { claims: { ...caller } };
        const { data, errors } = await world.ask(text, variables, context);
        if (after) {
          const stands = change.how === 'delete' ? model : after;
          const seen = touched.filter((key) => may(rules, stands, stands.get(key) as Node, 'query', caller)).sort();
          const done = { numUids: touched.length, [change.kind.toLowerCase()]: seen.map((key) => ({ key })) };
          expect([errors, data], text).toEqual([undefined, { done }]);
          model = after;
        } else expect(errors, text).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
        expect(await world.data(SHOWN, {}, TRUSTED), text).toEqual(shownOf(model, everything));
        const sees: Sees = (node) => may(rules, model, node, 'query', caller);
        expect(counted(await world.data(SHOWN, {}, context)), text).toEqual(shownOf(model, sees));
      }
    }),
    { numRuns: 10, interruptAfterTimeLimit: 60_000 },
  );
});
