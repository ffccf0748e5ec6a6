// Services that only read, beside the one that writes: what one of them adds to the rate of queries, what it costs to look first
// what was committed, and how far behind those are who do not.
import { lanes, request } from './lanes.mjs';
import { peopleMutation } from './people.mjs';
import { load, middle, n, scratch, startService } from './service.mjs';

export const name = 'A service that only reads, beside the one that writes';

const PEOPLE = 2_000;
const FRIENDS = 20;
const CLIENTS = 64;
const WARM_MS = 3_000;
const SLICE_MS = 1_500;
const ROUNDS = 5;
const LAGS = 100;

const RDF = { 'content-type': 'application/rdf' };
const DQL = { 'content-type': 'application/dql' };
const COMMIT = '/mutate?commitNow=true';

export async function run(print) {
  const folder = scratch('readers');
  const services = [];
  try {
    const open = async (args) => {
      const service = await startService({ data: folder.dir, args });
      const lane = lanes(service.url, CLIENTS);
      services.push({ service, lane });
      return lane;
    };
    const writer = await open([]);
    await fill(writer);
    const reader = await open(['--read-only']);
    await compareRates(print, writer, reader);
    await measureLooks(print, writer, reader);
    await measureLag(print, writer, reader);
  } finally {
    for (const { lane, service } of services.reverse()) {
      lane.close();
      await service.stop();
    }
    folder.remove();
  }
}

async function fill(writer) {
  await writer.send(
    request('/alter', 'name: string @index(exact) .\nage: int .\nfriend: [uid] .', { 'content-type': 'text/plain' }),
  );
  await writer.send(request(COMMIT, peopleMutation(PEOPLE, FRIENDS), RDF));
}

/** All clients ask the one that writes, then half of them the other one, in turn. */
async function compareRates(print, writer, reader) {
  const ask = (i) =>
    request(
      '/query',
      `{ q(func: eq(name, "person ${i % PEOPLE}")) { name friend { name age friend { name age } } } }`,
      DQL,
    );
  const alone = (ms) => load({ clients: CLIENTS, ms, work: (i) => writer.send(ask(i)) });
  const half = (lane, ms) => load({ clients: CLIENTS / 2, ms, work: (i) => lane.send(ask(i)) });
  const both = async (ms) => {
    const [a, b] = await Promise.all([half(writer, ms), half(reader, ms)]);
    return { rate: a.rate + b.rate };
  };
  for (const round of [alone, both]) await round(WARM_MS);
  const rates = { alone: [], both: [] };
  for (let r = 0; r < ROUNDS; r++) {
    rates.alone.push((await alone(SLICE_MS)).rate);
    rates.both.push((await both(SLICE_MS)).rate);
  }
  const [one, two] = [middle(rates.alone), middle(rates.both)];
  print(`a query of three levels, ${CLIENTS} clients`, `${n(one)}/s by one, ${n(two)}/s by both: ${n(two / one, 2)}x`);
}

/** Small queries to the one that reads, with a look first and without, while the other one writes and while it does not. */
async function measureLooks(print, writer, reader) {
  const ask = (i, path) =>
    reader.send(request(path, `{ q(func: eq(name, "person ${i % PEOPLE}")) { name age } }`, DQL));
  const age = (i) => request(COMMIT, `{ set { _:a <age> "${i % 90}" . } }`, RDF);
  const rate = async (path, clients) => (await load({ clients, ms: SLICE_MS, work: (i) => ask(i, path) })).rate;
  for (const clients of [1, CLIENTS]) {
    for (const isWritten of [false, true]) {
      const rates = { looking: [], not: [] };
      let going = isWritten;
      const writes = (async () => {
        for (let i = 0; going; i++) await writer.send(age(i));
      })();
      for (let r = 0; r < ROUNDS; r++) {
        rates.looking.push(await rate('/query', clients));
        rates.not.push(await rate('/query?be=true', clients));
      }
      going = false;
      await writes;
      const [one, two] = [middle(rates.looking), middle(rates.not)];
      const told = `${n(one)}/s with a look first, ${n(two)}/s without: ${n(one / two, 2)}x`;
      print(`a small query, ${clients} clients${isWritten ? ', beside a client that writes' : ''}`, told);
    }
  }
}

/** From the answer of a commit until it is answered there without a look. */
async function measureLag(print, writer, reader) {
  const lags = [];
  for (let i = 0; i < LAGS; i++) {
    await writer.send(request(COMMIT, `{ set { _:a <name> "lag ${i}" . } }`, RDF));
    const from = performance.now();
    const asks = request('/query?be=true', `{ q(func: eq(name, "lag ${i}")) { name } }`, DQL);
    while (!String(await reader.send(asks)).includes(`lag ${i}`));
    lags.push(performance.now() - from);
  }
  lags.sort((a, b) => a - b);
  print('until a commit is read there without a look', `p50 ${n(middle(lags))} ms, at most ${n(lags.at(-1))} ms`);
}
