import { setMaxListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { contextOf, createWorld, type World } from '../../../test/support/api-world.js';
import { GraphsteadError } from '../../base/index.js';
import type { CommitRecord } from '../../commit/index.js';
import type { RequestContext } from '../operation.js';
import { LiveQueries, type LiveRequest } from './live-query.js';
import type { Reads } from './reads.js';

const SDL = `
  interface Named @withSubscription { name: String! @id }
  type Person implements Named @withSubscription {
    born: Int @search
    bio: String @search(by: [term])
    tags: [String] @search(by: [exact])
    said: String @dgraph(pred: "said")
    saidEn: String @dgraph(pred: "said@en") @search(by: [exact])
    saidDe: String @dgraph(pred: "said@de:en")
    friends: [Person]
    likes: [Liked]
    wrote: [Book] @hasInverse(field: by)
    reads: [Book] @dgraph(pred: "~reader")
  }
  type Book implements Named @withSubscription {
    pages: Int @search
    by: Person
    readers: [Person] @dgraph(pred: "reader")
  }
  union Liked = Person | Book`;

const rule = (text: string) => `{rule: ${JSON.stringify(text)}}`;
/** The same with rules that hang on what nodes and their neighbours hold. */
const RULED = SDL.replace(
  'type Person implements Named',
  `$& @auth(query: {or: [
    ${rule('query { queryPerson(filter: {born: {ge: 2}}) { name } }')}
    ${rule('query ($USER: String!) { queryPerson { friends(filter: {name: {eq: $USER}}) { name } } }')}
    ${rule('query { queryPerson(filter: {reads: {pages: {ge: 2}}}) { name } }')}
  ]})`,
).replace(
  'type Book implements Named',
  `$& @auth(query: {or: [
    ${rule('query { queryBook { by { friends(filter: {bio: {anyofterms: "friend"}}) { name } } } }')}
    {not: ${rule('query { queryBook(filter: {has: readers}) { name } }')}}
  ]})`,
);

/** Opens a subscription. `next` gives the data of its next answer. */
function live(world: World, query: string, abort: AbortController, claims?: RequestContext['claims']) {
  const context = { signal: abort.signal, ...(claims ? { claims } : {}) };
  const stream = world.api
    .subscribe({ query: `subscription { ${query} }` }, contextOf(context))
    [Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => {
    const { value, done } = await stream.next();
    return done ? undefined : JSON.parse(value[0].body.toString()).data;
  };
  return { query, next };
}

const add = (type: string, ...input: string[]) => `add${type}(input: [${input}]) { numUids }`;
const update = (type: string, name: string, change: string) =>
  `update${type}(input: {filter: {name: {eq: "${name}"}}, ${change}}) { numUids }`;

it.each([
  ['another node of the type', 'getPerson(name: "a") { born }', update('Person', 'b', 'set: {born: 9}'), false],
  ['the node', 'getPerson(name: "a") { born }', update('Person', 'a', 'set: {born: 9}'), true],
  ['what it does not show', 'getPerson(name: "a") { born }', update('Person', 'a', 'set: {bio: "x"}'), false],
  ['a node that it waits for', 'getPerson(name: "z") { born }', add('Person', '{name: "z"}'), true],
  ['a node that it does not wait for', 'getPerson(name: "z") { born }', add('Person', '{name: "y"}'), false],
  [
    'a node that a lookup finds now',
    'queryPerson(filter: {tags: {eq: "red"}}) { name }',
    update('Person', 'b', 'set: {tags: ["red", "blue"]}'),
    true,
  ],
  [
    'a node that a lookup finds no more',
    'queryPerson(filter: {tags: {eq: "red"}}) { name }',
    update('Person', 'a', 'remove: {tags: ["red"]}'),
    true,
  ],
  [
    'another entry of an index',
    'queryPerson(filter: {tags: {eq: "red"}}) { name }',
    update('Person', 'b', 'set: {tags: ["green"]}'),
    false,
  ],
  [
    'a word beside those that were looked up',
    'queryPerson(filter: {bio: {anyofterms: "old friend"}}) { name }',
    update('Person', 'b', 'set: {bio: "a new one"}'),
    false,
  ],
  ['a node further on', 'getPerson(name: "a") { friends { born } }', update('Person', 'b', 'set: {born: 9}'), true],
  ['a range', 'queryPerson(filter: {born: {gt: 5}}) { name }', update('Person', 'b', 'set: {born: 9}'), true],
  ['a new node of a list', 'queryPerson { name }', add('Person', '{name: "y"}'), true],
  ['a new node of another type', 'queryPerson { name }', add('Book', '{name: "y"}'), false],
])('a live query looks again after a commit that changed %s, or lets it be', async (_, query, mutation, looks) => {
  const world = await createWorld(SDL);
  const person = add(
    'Person',
    '{name: "a", born: 1, tags: ["red"], friends: [{name: "b", born: 2}], wrote: [{name: "w"}]}',
  );
  await world.data(`mutation { ${person} }`);
  const abort = new AbortController();
  await live(world, query, abort).next();
  const begin = vi.spyOn(world.graph, 'begin');
  await world.data(`mutation { ${mutation} }`);
  for (let i = 0; i < 10; i++) await turn();
  abort.abort();
  expect(begin.mock.calls.filter(([options]) => options?.bestEffort)).toHaveLength(looks ? 1 : 0);
});

it('a list of the first few looks again for those who come among them, not for the others', async () => {
  const world = await createWorld(SDL);
  const people = Array.from({ length: 1_200 }, (_, i) => `{name: "p${i}", born: ${i}}`);
  await world.data(`mutation { ${add('Person', ...people)} }`);
  const abort = new AbortController();
  const { next } = live(world, 'queryPerson(order: {desc: born}, first: 2) { name }', abort);
  expect(await next()).toEqual({ queryPerson: [{ name: 'p1199' }, { name: 'p1198' }] });
  const begin = vi.spyOn(world.graph, 'begin');
  await world.data(`mutation { ${update('Person', 'p7', 'set: {born: 300}')} }`);
  for (let i = 0; i < 10; i++) await turn();
  expect(begin.mock.calls.filter(([options]) => options?.bestEffort)).toEqual([]);
  await world.data(`mutation { ${update('Person', 'p7', 'set: {born: 1500}')} }`);
  expect(await next()).toEqual({ queryPerson: [{ name: 'p7' }, { name: 'p1199' }] });
  abort.abort();
});

it('a live query whose node nobody touches is answered anew where other definitions are served', async () => {
  const world = await createWorld(SDL);
  const abort = new AbortController();
  await world.data(`mutation { ${add('Person', '{name: "a", born: 1}')} }`);
  const { next } = live(world, 'getPerson(name: "a") { born }', abort);
  expect(await next()).toEqual({ getPerson: { born: 1 } });
  await world.api.updateSchema(
    SDL.replace('type Person implements Named', '$& @auth(query: {rule: "{$ROLE: {eq: \\"ADMIN\\"}}"})'),
  );
  expect(await next()).toEqual({ getPerson: null });
  abort.abort();
});

const NAMES = ['a', 'b', 'c', 'd', 'e'];
const name = fc.constantFrom(...NAMES);
const born = fc.integer({ min: 0, max: 4 });
const word = fc.constantFrom('old', 'new', 'friend');
const tags = fc.subarray(['red', 'green', 'blue']).map((list) => JSON.stringify(list));
const named = (list: readonly string[]) => `[${list.map((each) => `{name: "${each}"}`)}]`;
const friends = fc.subarray(NAMES, { maxLength: 3 }).map(named);
const books = fc.subarray(['v', 'w', 'x'], { maxLength: 2 }).map(named);

const change = fc.oneof(
  born.map((each) => `born: ${each}`),
  fc.tuple(word, word).map((words) => `bio: "${words.join(' ')}"`),
  tags.map((list) => `tags: ${list}`),
  friends.map((list) => `friends: ${list}`),
  books.map((list) => `wrote: ${list}`),
  fc.tuple(fc.constantFrom('said', 'saidEn'), word).map(([field, text]) => `${field}: "${text}"`),
  fc
    .tuple(name, fc.constantFrom('v', 'w'))
    .map(([a, b]) => `likes: [{personRef: {name: "${a}"}}, {bookRef: {name: "${b}"}}]`),
);

const mutations = fc.oneof(
  name.map((each) => `addPerson(input: [{name: "${each}"}], upsert: true) { numUids }`),
  fc.tuple(name, change).map(([each, what]) => update('Person', each, `set: {${what}}`)),
  fc.tuple(name, change).map(([each, what]) => update('Person', each, `remove: {${what}}`)),
  fc.tuple(fc.constantFrom('v', 'w', 'x'), born).map(([each, pages]) => update('Book', each, `set: {pages: ${pages}}`)),
  fc
    .tuple(fc.constantFrom('v', 'w', 'x'), name)
    .map(([each, by]) => update('Book', each, `set: {by: {name: "${by}"}}`)),
  fc
    .tuple(fc.constantFrom('v', 'w', 'x'), fc.constantFrom('set', 'remove'), friends)
    .map(([each, how, list]) => update('Book', each, `${how}: {readers: ${list}}`)),
  name.map((each) => `deletePerson(filter: {name: {eq: "${each}"}}) { numUids }`),
);

const QUERIES = [
  'getPerson(name: "a") { name born bio tags }',
  'getPerson(name: "b") { friends(order: {desc: born}, first: 2) { name born } friendsAggregate { count bornMax } }',
  'getPerson(name: "a") { reads(order: {asc: name}) { name pages } }',
  'getBook(name: "v") { pages by { name wrote { name } } }',
  'queryPerson(filter: {born: {eq: 2}}) { name }',
  'queryPerson(filter: {born: {ge: 2}}, order: {asc: born}) { name bio }',
  'queryPerson(filter: {bio: {allofterms: "old friend"}}) { name bio }',
  'queryPerson(filter: {or: [{tags: {in: ["red", "blue"]}}, {has: wrote}]}) { name tags }',
  'queryPerson(filter: {not: {tags: {eq: "red"}}}) { name }',
  'queryPerson(order: {asc: name}, first: 2, offset: 1) { name }',
  'queryPerson(order: {desc: born}, first: 1) { name born }',
  'queryPerson(filter: {born: {between: {min: 1, max: 2}}}, order: {desc: born, then: {asc: name}}, first: 2) { name }',
  'queryPerson @cascade { name wrote(filter: {pages: {gt: 1}}) { name } }',
  'queryPerson(filter: {friends: {born: {eq: 1}}}) { name }',
  'aggregatePerson(filter: {tags: {eq: "green"}}) { count bornSum }',
  'queryNamed(filter: {name: {in: ["a", "v"]}}) { __typename name ... on Person { born } ... on Book { pages } }',
  'aggregateNamed { count }',
  'queryPerson(order: {asc: name}) { name said saidDe }',
  'queryPerson(filter: {saidEn: {lt: "old"}}, order: {asc: saidEn, then: {desc: name}}, first: 2) { name saidEn }',
  'queryPerson(filter: {friends: {wrote: {pages: {ge: 2}}}}, order: {asc: name}) { name friends(order: {asc: name}, first: 1, offset: 1) { name } }',
  'queryBook(order: {by: {desc: born}, then: {asc: name}}, first: 2) { name readersAggregate(filter: {has: bio}) { count saidMin } }',
  'queryPerson(filter: {likes: {bookFilter: {pages: {ge: 1}}}}) { name likes { __typename ... on Person { saidEn } ... on Book { pages } } }',
];

/** Fails where an answer that a live query owes does not come within so many milliseconds. */
const OWED_MS = 20_000;

const batches = fc.array(fc.array(mutations, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 8 });

it.each([
  ['', SDL],
  [' under rules', RULED],
])('live queries give what the same queries would%s, whatever is written', async (_, definitions) => {
  const claims = { USER: 'a' };
  const trusted = { trusted: true } as const;
  await fc.assert(
    fc.asyncProperty(batches, async (list) => {
      const world = await createWorld(definitions);
      await world.data(
        `mutation { ${add('Person', ...NAMES.slice(0, 3).map((each) => `{name: "${each}"}`))} }`,
        {},
        trusted,
      );
      await world.data(
        `mutation { ${add('Book', '{name: "v", pages: 1}', '{name: "w"}', '{name: "x"}')} }`,
        {},
        trusted,
      );
      const abort = new AbortController();
      setMaxListeners(0, abort.signal);
      const owed = async (next: () => Promise<unknown>) => {
        const late = setTimeout(() => abort.abort(), OWED_MS);
        return await next().finally(() => clearTimeout(late));
      };
      const open = QUERIES.map((query) => live(world, query, abort, claims));
      const shown = await Promise.all(open.map(({ next }) => next()));
      for (const together of list) {
        await Promise.all(together.map((mutation) => world.ask(`mutation { ${mutation} }`, {}, trusted)));
        for (const [i, { query, next }] of open.entries()) {
          const data = JSON.stringify(await world.data(`{ ${query} }`, {}, { claims }));
          // states in between may be shown first; the last one is owed
          while (JSON.stringify(shown[i]) !== data && !abort.signal.aborted) shown[i] = await owed(next);
          expect(JSON.stringify(shown[i]), `${query} after ${together}`).toBe(data);
        }
      }
      abort.abort();
    }),
    { numRuns: 25 },
  );
});

it.each([
  ['what only the newest plan reads', 'B', 3],
  ['what no plan reads', 'C', 2],
])('judges what is committed while an answer is made by what that reads: %s', async (_, name, answers) => {
  let landed: (records: readonly CommitRecord[]) => void = () => undefined;
  const commit = (...names: string[]) => landed([{ parts: { graph: { kind: 'changes', names } } } as never]);
  const queries = new LiveQueries({
    onCommit: (listener) => {
      landed = listener;
      return () => undefined;
    },
  });
  const abort = new AbortController();
  let made = 0;
  const asked = {
    request: { operation: {}, context: {}, run: {}, engine: { model: { queries: [], objects: [] } } },
    renew: (request: unknown) => request,
    answer: async (_request: unknown, reads: Reads) => {
      made++;
      if (made === 2) {
        commit(name);
        late = stream(); // it comes behind that commit
        await turn();
        reads.names.add('B');
      }
      reads.names.add('A');
      return { body: Buffer.from(String(made)), known: 'predicates' as const, passing: false };
    },
  } as unknown as LiveRequest;
  const stream = () => {
    const reading = queries.read(asked, abort.signal)[Symbol.asyncIterator]();
    const next = reading.next().then(({ value }) => String(value[0].body));
    return { reading, next };
  };
  let late: ReturnType<typeof stream> | undefined;
  expect(await stream().next).toBe('1');
  commit('A');
  await vi.waitFor(() => expect(late).toBeDefined());
  expect(await late?.next).toBe(String(answers));
  expect(made).toBe(answers);
  abort.abort();
});

it('answers again by itself where what failed may be over, later each time, and no more once it is answered', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const world = await createWorld(SDL);
    const begin = vi.spyOn(world.graph, 'begin');
    const busy = new GraphsteadError('OVERLOADED', 'too much at once', { fix: 'ask again' });
    begin.mockRejectedValueOnce(busy).mockRejectedValueOnce(busy).mockRejectedValueOnce(busy);
    const abort = new AbortController();
    const { next } = live(world, 'getPerson(name: "a") { born }', abort);
    expect(await next()).toEqual({ getPerson: null });
    const made = async (): Promise<number> => {
      for (let i = 0; i < 10; i++) await turn();
      return begin.mock.calls.length;
    };
    expect(await made()).toBe(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await made()).toBe(2);
    await vi.advanceTimersByTimeAsync(1_999);
    expect(await made()).toBe(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(await made()).toBe(3);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(await made()).toBe(4);
    await vi.advanceTimersByTimeAsync(100_000);
    expect(await made()).toBe(4);
    abort.abort();
  } finally {
    vi.useRealTimers();
  }
});

it('waits for a commit where what failed cannot be over without one', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const world = await createWorld(SDL);
    const begin = vi.spyOn(world.graph, 'begin');
    begin.mockRejectedValueOnce(new GraphsteadError('LIMIT_EXCEEDED', 'too much', { fix: 'ask for less' }));
    const abort = new AbortController();
    const { next } = live(world, 'getPerson(name: "a") { born }', abort);
    expect(await next()).toEqual({ getPerson: null });
    await vi.advanceTimersByTimeAsync(100_000);
    for (let i = 0; i < 10; i++) await turn();
    expect(begin).toHaveBeenCalledTimes(1);
    abort.abort();
  } finally {
    vi.useRealTimers();
  }
});
