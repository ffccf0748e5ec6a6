// Live queries beside other requests: what subscribers of generated GraphQL cost those who do not subscribe. A commit that
// touches what they read wakes all of them.
import http from 'node:http';
import { client, cpuMs, n, startService } from './service.mjs';

export const name = 'Live queries (subscriptions of generated GraphQL)';

const NODES = 5_000;
const WRITES = 200;
const PAUSE_MS = 20;
const TYPES = 'type Thing @withSubscription { name: String! @id kind: String @search(by: [exact]) }';
const graphql = (query) => JSON.stringify({ query });

/** Opens so many, each asking what `textOf(i)` says; resolves when all have their first answer. */
async function open(url, count, textOf) {
  const opened = [];
  let events = 0;
  await new Promise((done) => {
    for (let i = 0; i < count; i++) {
      const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
      const request = http.request(`${url}/graphql`, { method: 'POST', agent: false, headers }, (response) => {
        response.on('data', (part) => {
          events += String(part).split('event: next').length - 1;
          if (events === count) done();
        });
        response.on('error', () => undefined);
      });
      request.on('error', () => undefined);
      request.end(graphql(textOf(i)));
      opened.push(request);
    }
  });
  const close = () => {
    for (const request of opened) request.destroy();
  };
  return { events: () => events - count, close };
}

let round = 0;

/** Writes with a pause, each followed by the smallest query; milliseconds of both, and CPU of the service a write. */
async function measure({ pid }, pool) {
  const [writes, queries] = [[], []];
  const cpu = cpuMs(pid);
  round++;
  for (let i = 0; i < WRITES; i++) {
    const from = performance.now();
    await pool.post(
      '/graphql',
      graphql(
        `mutation { updateThing(input: { filter: { name: { eq: "n${i}" } }, set: { kind: "k${round}" } }) { numUids } }`,
      ),
    );
    const written = performance.now();
    await pool.post('/graphql', graphql('{ __typename }'));
    writes.push(written - from);
    queries.push(performance.now() - written);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  const at = (list, share) => list.sort((a, b) => a - b)[Math.floor(list.length * share)];
  const [write, query] = [writes, queries].map((list) => [at(list, 0.5), at(list, 0.99)].map((ms) => n(ms, 1)));
  return `a write ${write[0]} ms, p99 ${write[1]}; a small query after it ${query[0]} ms, p99 ${query[1]}; ${n((cpuMs(pid) - cpu) / WRITES, 1)} ms of CPU a write`;
}

export async function run(print) {
  const service = await startService();
  const pool = client(service.url);
  try {
    await pool.post('/admin/schema', TYPES, 'text/plain');
    const input = Array.from({ length: NODES }, (_, i) => `{ name: "n${i}" }`).join(' ');
    await pool.post('/graphql', graphql(`mutation { addThing(input: [${input}]) { numUids } }`));
    await measure(service, pool);
    print('nobody subscribes', await measure(service, pool));
    const one = () => 'subscription { queryThing(filter: { name: { eq: "n7" } }) { name kind } }';
    const own = (i) => `subscription { queryThing(filter: { name: { eq: "n${i}" } }) { name kind } }`;
    for (const [label, count, textOf] of [
      ['1,000 readers of one query', 1_000, one],
      ['500 queries, a reader each', 500, own],
      ['2,000 queries, a reader each', 2_000, own],
    ]) {
      const live = await open(service.url, count, textOf);
      print(label, `${await measure(service, pool)}; ${live.events()} events`);
      live.close();
      await measure(service, pool);
    }
  } finally {
    pool.close();
    await service.stop();
  }
}
