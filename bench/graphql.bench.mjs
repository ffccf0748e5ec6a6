// Generated GraphQL: a list of 1,000 items of 5 fields with a nested list, against graphql-js over the same data in
// memory; the same requests in the graph language; a mutation; a schema of 500 types.
import { buildSchema, execute, parse } from 'graphql';
import { createApi } from '../build/rooms/api/index.js';
import { defaultNames, makeLimits, systemClock } from '../build/rooms/base/index.js';
import { createCommitter } from '../build/rooms/commit/index.js';
import { createGraph, graphApplier, graphShared } from '../build/rooms/graph/index.js';
import { openLmdbStore } from '../build/rooms/store/index.js';
import { client, cpuMs, median, n, scratch, startService } from './service.mjs';

export const name = 'Generated GraphQL';

const SCHEMA = `
type Item {
  code: String! @id
  title: String! @search(by: [term])
  price: Float
  stock: Int @search
  active: Boolean
  tags: [Tag] @hasInverse(field: items)
}
type Tag {
  label: String! @id
  weight: Int
  items: [Item]
}`;
const QUERY = '{ queryItem(first: 1000) { code title price stock active tags { label weight } } }';
const LIKE_IT =
  '{ queryItem(func: type(Item), first: 1000) { code: Item.code title: Item.title price: Item.price stock: Item.stock active: Item.active tags: Item.tags { label: Tag.label weight: Tag.weight } } }';

const items = Array.from({ length: 1000 }, (_, i) => ({
  code: `c${i}`,
  title: `Item number ${i}`,
  price: i * 1.25,
  stock: i % 50,
  active: i % 3 > 0,
  tags: [0, 1, 2].map((t) => `t${(i + t * 7) % 40}`),
}));
const tags = new Map(Array.from({ length: 40 }, (_, i) => [`t${i}`, { label: `t${i}`, weight: i }]));

/** graphql-js with resolvers over maps and objects, parsed and validated once: milliseconds of CPU a request. */
async function reference() {
  const schema = buildSchema(`
    type Query { queryItem(first: Int): [Item] }
    type Item { code: String! title: String! price: Float stock: Int active: Boolean tags: [Tag] }
    type Tag { label: String! weight: Int }`);
  schema.getType('Item').getFields().tags.resolve = (item) => item.tags.map((label) => tags.get(label));
  const document = parse(QUERY);
  const rootValue = { queryItem: ({ first }) => items.slice(0, first) };
  let bytes = 0;
  const ms = await ownCpu(100, async () => {
    bytes = Buffer.byteLength(JSON.stringify(await execute({ schema, document, rootValue })));
  });
  return { ms, bytes };
}

const ADD_TAGS = 'mutation ($input: [AddTagInput!]!) { addTag(input: $input) { numUids } }';
const ADD_ITEMS = 'mutation ($input: [AddItemInput!]!) { addItem(input: $input) { numUids } }';

/** Adds the items and their tags; `send` takes a text and its variables. */
async function addItems(send) {
  await send(ADD_TAGS, { input: [...tags.values()] });
  await send(ADD_ITEMS, { input: items.map((item) => ({ ...item, tags: item.tags.map((label) => ({ label })) })) });
}

/** The same list in this process without HTTP, as graphql-js runs it, but from a store on disk: milliseconds of CPU. */
async function withoutHttp() {
  const folder = scratch('graphql');
  const limits = makeLimits();
  const store = await openLmdbStore(folder.dir, { limits });
  const shared = graphShared(limits);
  const committer = await createCommitter({ store, appliers: [graphApplier(shared)], limits });
  const graph = await createGraph({ committer, shared });
  const api = createApi({ graph, committer, names: defaultNames, clock: systemClock, limits });
  const { signal } = new AbortController();
  const execute = (query, variables) =>
    api.execute({ query, variables }, { requestId: 'r', headers: {}, signal, extensions: {} });
  try {
    await api.updateSchema(SCHEMA);
    await addItems(async (query, variables) => must((await execute(query, variables)).body));
    return await ownCpu(400, () => execute(QUERY));
  } finally {
    await graph.close();
    await committer.close();
    await store.close();
    folder.remove();
  }
}

async function ownCpu(runs, work) {
  for (let i = 0; i < runs; i++) await work();
  const from = process.cpuUsage();
  for (let i = 0; i < runs; i++) await work();
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000 / runs;
}

/** CPU of the service for one request, after a warm-up, in ms; wall as the median. */
async function cost(service, runs, work) {
  for (let i = 0; i < runs; i++) await work(i);
  const from = cpuMs(service.pid);
  for (let i = 0; i < runs; i++) await work(runs + i);
  return (cpuMs(service.pid) - from) / runs;
}

function large(types) {
  const scalars = 'name: String! @search(by: [hash]) note: String score: Int @search born: DateTime';
  return Array.from(
    { length: types },
    (_, i) => `type T${i} { id: ID! ${scalars} next: T${(i + 1) % types} all: [T${(i * 7 + 3) % types}] }`,
  ).join('\n');
}

function must(body) {
  if (body.includes('"errors"')) throw new Error(body.toString('utf8', 0, 500));
  return body;
}

export async function run(print) {
  const service = await startService();
  const http = client(service.url);
  const graphql = async (query, variables) =>
    must(await http.post('/graphql', JSON.stringify({ query, ...(variables ? { variables } : {}) })));
  try {
    must(await http.post('/admin/schema', SCHEMA, 'text/plain'));
    await addItems(graphql);
    const memory = await reference();
    const alone = await withoutHttp();
    const list = () => graphql(QUERY);
    const same = async () => must(await http.post('/query?ro=true', LIKE_IT, 'application/dql'));
    const bytes = (await list()).length;
    const listMs = await cost(service, 400, list);
    const sameMs = await cost(service, 400, same);
    print('1,000 items x 5 fields + lists: CPU a request over HTTP', `${n(listMs, 2)} ms (${n(bytes)} bytes)`);
    print('graphql-js over the same data in memory, no HTTP: CPU', `${n(memory.ms, 2)} ms (${n(memory.bytes)} bytes)`);
    print('faster than graphql-js by (CPU), our HTTP counted', `${n(memory.ms / listMs, 1)}x`);
    print('neither over HTTP', `${n(alone, 2)} ms  ${n(memory.ms / alone, 1)}x`);
    print('wall of one, median', `${n(await median(20, list), 1)} ms`);
    print(
      'the same request in the graph language: CPU',
      `${n(sameMs, 2)} ms; GraphQL costs ${percent(listMs, sameMs)}`,
    );

    const get = (i) => graphql('query ($c: String!) { getItem(code: $c) { code title stock } }', { c: `c${i % 1000}` });
    const getSame = async (i) => {
      const query =
        'query q($c: string) { getItem(func: eq(Item.code, $c)) { code: Item.code title: Item.title stock: Item.stock } }';
      return must(await http.post('/query?ro=true', JSON.stringify({ query, variables: { $c: `c${i % 1000}` } })));
    };
    const getMs = await cost(service, 2500, get);
    const getSameMs = await cost(service, 2500, getSame);
    print(
      'one item by @id: CPU',
      `${n(getMs * 1000)} us; graph language ${n(getSameMs * 1000)} us, ${percent(getMs, getSameMs)}`,
    );

    const add = (i) => graphql(ADD_TAGS, { input: [{ label: `new${i}`, weight: i }] });
    const addSame = async (i) =>
      must(
        await http.post(
          '/mutate?commitNow=true',
          `upsert { query { q as var(func: eq(Tag.label, "own${i}")) } mutation @if(eq(len(q), 0)) { set { _:t <service.type> "Tag" . _:t <Tag.label> "own${i}" . _:t <Tag.weight> "${i}" . } } }`,
          'application/rdf',
        ),
      );
    const addMs = await cost(service, 800, add);
    const addSameMs = await cost(service, 800, addSame);
    print(
      'add one node with an @id: CPU',
      `${n(addMs * 1000)} us; upsert in the graph language ${n(addSameMs * 1000)} us, ${percent(addMs, addSameMs)}`,
    );

    const from = performance.now();
    const before = cpuMs(service.pid);
    must(await http.post('/admin/schema', large(500), 'text/plain'));
    await graphql('{ queryT7(first: 1) { name next { name } } }');
    print(
      '500 types uploaded and the first request answered',
      `${n(performance.now() - from)} ms wall, ${n(cpuMs(service.pid) - before)} ms CPU`,
    );
  } finally {
    http.close();
    await service.stop();
  }
}

const percent = (cost, than) => `${cost >= than ? '+' : ''}${n((cost / than - 1) * 100)}%`;
