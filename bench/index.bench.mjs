// Indexes: built over what is stored, and kept by mutations, beside the same mutations without one. Vectors: put into their
// index and searched, beside a loop that compares them all.
import { client, median, n, startService } from './service.mjs';

export const name = 'Indexes (100,000 texts and places, 4,000 vectors of 128 dimensions)';

const NODES = 100_000;
const BATCH = 5_000;
const VECTORS = 4_000;
const DIMENSIONS = 128;

/** The same numbers in each run. */
function numbers(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

const textOf = (i) => ({ text: `some name with words ${i} and more of them ${i % 77}` });
const placeOf = (i) => ({ place: { type: 'Point', coordinates: [((i * 7.13) % 360) - 180, ((i * 3.37) % 170) - 85] } });

async function timed(work) {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

export async function run(print) {
  const service = await startService();
  const http = client(service.url);
  const post = async (path, body, type) => {
    const answer = await http.post(path, body, type);
    if (answer.includes('"errors"')) throw new Error(answer.toString('utf8', 0, 600));
    return answer;
  };
  const alter = (text) => post('/alter', text, 'text/plain');
  const load = async (count, batch, nodeOf) => {
    for (let from = 0; from < count; from += batch) {
      const set = Array.from({ length: batch }, (_, i) => nodeOf(from + i));
      await post('/mutate?commitNow=true', JSON.stringify({ set }));
    }
  };
  const anew = async (schema) => {
    await alter('{"drop_all": true}');
    await alter(schema);
  };
  try {
    await anew('text: string .\nplace: geo .');
    await load(NODES, BATCH, textOf); // V8 compiles what runs often
    await anew('text: string .\nplace: geo .');
    const plain = await timed(() => load(NODES, BATCH, textOf));
    print('texts in mutations of 5,000, no index', `${n(NODES / (plain / 1000))}/s`);
    for (const kind of ['exact', 'term', 'trigram']) {
      const built = await timed(() => alter(`text: string @index(${kind}) .`));
      print(`${kind} built over them`, `${n(built / 1000, 1)} s, ${n(built / plain, 1)}x of the time of the mutations`);
      await alter('text: string .');
    }
    await load(NODES, BATCH, placeOf);
    const places = await timed(() => alter('place: geo @index(geo) .'));
    print('geo built over as many places', `${n(places / 1000, 1)} s, ${n(places / plain, 1)}x`);
    for (const kind of ['term', 'trigram']) {
      await anew(`text: string @index(${kind}) .`);
      const kept = await timed(() => load(NODES, BATCH, textOf));
      print(`the mutations under ${kind}`, `${n(NODES / (kept / 1000))}/s, ${n(kept / plain, 1)}x of the time without`);
    }
    await vectors(print, { anew, load, post });
  } finally {
    http.close();
    await service.stop();
  }
}

async function vectors(print, { anew, load, post }) {
  const random = numbers(7);
  const all = Array.from({ length: VECTORS }, () => Float32Array.from({ length: DIMENSIONS }, () => random() * 2 - 1));
  const vectorOf = (i) => ({ vector: `[${all[i].join(',')}]` });
  await anew('vector: float32vector .');
  const plain = await timed(() => load(VECTORS, 500, vectorOf));
  await anew('vector: float32vector @index(hnsw(metric: "cosine")) .');
  const indexed = await timed(() => load(VECTORS, 500, vectorOf));
  print('a vector put into its index', `${n(indexed / VECTORS, 2)} ms, without an index ${n(plain / VECTORS, 2)}`);
  let next = 0;
  const one = () => all[(next += 17) % VECTORS];
  const search = await median(100, () =>
    post('/query?ro=true', `{ q(func: similar_to(vector, 10, "[${one().join(',')}]")) { uid } }`, 'application/dql'),
  );
  const scan = await median(100, () => nearest(all, one()));
  print('the 10 nearest', `${n(search, 1)} ms, a loop over all of them ${n(scan, 1)}`);
}

function nearest(all, to) {
  const size = Math.sqrt(dot(to, to));
  const far = all.map((vector, i) => ({ i, distance: 1 - dot(to, vector) / (size * Math.sqrt(dot(vector, vector))) }));
  return far.sort((a, b) => a.distance - b.distance).slice(0, 10);
}

function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}
