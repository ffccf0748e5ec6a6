// Two hops with names over 1M quads, against reading the same keys from LMDB with nothing above it; lists of uids
// intersected; a service from its start to its first answer.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { makeLimits } from '../build/rooms/base/index.js';
import { createCommitter } from '../build/rooms/commit/index.js';
import { createDqlEngine } from '../build/rooms/dql/index.js';
import { createGraph, graphApplier, graphShared, intersect } from '../build/rooms/graph/index.js';
import { openLmdbStore } from '../build/rooms/store/index.js';
import { dice, schema, writePeople } from './people.mjs';
import { client, median, n, root, scratch, startService } from './service.mjs';

export const name = 'Two hops with names over 1M quads (200,000 people)';

const PEOPLE = 200_000;
const UIDS = 100_000;
const QUERY = '{ q(func: eq(age, 5)) { name friend { name friend { name } } } }';

async function imported(folder) {
  const [quads, types, data] = ['people.nq', 'people.schema', 'data'].map((file) => join(folder.dir, file));
  writePeople(quads, PEOPLE);
  writeFileSync(types, schema);
  const args = [join(root, 'bin/graphstead.js'), 'import', quads, '--schema', types, '--data', data, '--json'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const code = await new Promise((resolve) => child.on('exit', resolve));
  if (code !== 0) throw new Error(`import ended with ${code}`);
  return data;
}

/** A store that notes which keys are asked for while `noted` is an array. */
function noting(store, notes) {
  const wrapped = (snapshot) =>
    new Proxy(snapshot, {
      get(target, property) {
        if (property === 'getMany') {
          return (keys) => {
            notes.keys?.push(...keys);
            return target.getMany(keys);
          };
        }
        if (property === 'visit') {
          return (keys, visit) => {
            for (let i = 0; i < keys.length && notes.keys; i++) notes.keys.push(keys.key(i));
            return target.visit(keys, visit);
          };
        }
        const value = Reflect.get(target, property, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  return new Proxy(store, {
    get(target, property) {
      if (property === 'snapshot') return () => wrapped(target.snapshot());
      const value = Reflect.get(target, property, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

async function opened(data, notes) {
  const limits = makeLimits();
  const store = await openLmdbStore(data, { limits });
  const shared = graphShared(limits);
  const committer = await createCommitter({
    store: noting(store, notes),
    appliers: [graphApplier(shared)],
    limits,
  });
  const graph = await createGraph({ committer, shared });
  const engine = createDqlEngine({ graph, limits });
  const close = async () => {
    await graph.close();
    await committer.close();
    await store.close();
  };
  return { engine, close };
}

/** Short keys are copied faster one by one than by lmdb's own encoding of bytes: the reference is to be as fast as can be. */
const keyEncoder = {
  writeKey(key, target, at) {
    for (let i = 0; i < key.length; i++) target[at + i] = key[i];
    return at + key.length;
  },
  readKey: (source, start, end) => source.slice(start, end),
};

/** Reads keys from the file with lmdb alone: as values that can be kept, and as ones that the next read overwrites. */
function rawReader(data) {
  const env = open({ path: join(data, 'data.mdb'), noSubdir: true, readOnly: true, encoding: 'binary', maxDbs: 4 });
  const table = env.openDB({ name: 'data', encoding: 'binary', keyEncoder });
  const reading = (get) => (keys) => {
    const transaction = table.useReadTransaction();
    let bytes = 0;
    for (const key of keys) bytes += get(key, { transaction })?.length ?? 0;
    transaction.done();
    return bytes;
  };
  const kept = reading((key, options) => table.getBinary(key, options));
  const fleeting = reading((key, options) => table.getBinaryFast(key, options));
  return { kept, fleeting, close: () => env.close() };
}

const WARM_UP = 60;
const ROUNDS = 9;
const RUNS = 10;

/** CPU of one call of each kind of work in ms: the median of rounds in which all take turns. */
async function sideBySide(works) {
  const rounds = works.map(() => []);
  for (const work of works) for (let i = 0; i < WARM_UP; i++) await work();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [w, work] of works.entries()) {
      const from = process.cpuUsage();
      for (let i = 0; i < RUNS; i++) await work();
      const { user, system } = process.cpuUsage(from);
      rounds[w].push((user + system) / 1000 / RUNS);
    }
  }
  return rounds.map((times) => times.sort((a, b) => a - b)[ROUNDS >> 1]);
}

async function traversal(data, print) {
  const notes = { keys: undefined };
  const { engine, close } = await opened(data, notes);
  try {
    const ask = () => engine.query({ text: QUERY });
    notes.keys = [];
    const answer = await ask();
    const keys = notes.keys.map((key) => key.slice());
    notes.keys = undefined;
    const names = answer.data.toString('utf8').match(/"name":/g).length;
    const raw = rawReader(data);
    const [query, kept, fleeting] = await sideBySide([ask, () => raw.kept(keys), () => raw.fleeting(keys)]);
    await raw.close();
    print(`the query (${n(names)} names, ${n(answer.data.length)} bytes of JSON): CPU`, `${n(query, 1)} ms`);
    print(`the same ${n(keys.length)} keys read from LMDB in place`, `${n(fleeting, 1)} ms`);
    print('the query against that', `${n(query / fleeting, 2)}x`);
    print('the same keys with every value kept; the query against that', `${n(kept, 1)} ms  ${n(query / kept, 2)}x`);
  } finally {
    await close();
  }
}

/** Ascending uids, some of every four or so. */
function someUids(seed) {
  const roll = dice(seed);
  const uids = new Float64Array(UIDS);
  for (let i = 0, uid = 1; i < UIDS; i++) {
    uid += 1 + roll(6);
    uids[i] = uid;
  }
  return uids;
}

async function firstAnswer(data) {
  const from = performance.now();
  const service = await startService({ data });
  const http = client(service.url);
  const body = await http.post('/query', '{ q(func: eq(name, "Ann Smith 0")) { name } }', 'application/dql');
  const ms = performance.now() - from;
  http.close();
  await service.stop();
  if (!body.includes('"data"')) throw new Error(body.toString());
  return ms;
}

export async function run(print) {
  const folder = scratch('traversal');
  try {
    const data = await imported(folder);
    await traversal(data, print);
    const [a, b] = [someUids(1), someUids(2)];
    const ms = await median(51, async () => intersect(a, b));
    print(`two lists of ${n(UIDS)} uids intersected`, `${n(ms, 2)} ms`);
    const starts = [];
    for (let i = 0; i < 3; i++) starts.push(await firstAnswer(data));
    print('start to first answer, the best of 3', `${n(Math.min(...starts))} ms`);
  } finally {
    folder.remove();
  }
}
