// Events of one agent to 1,000 subscribers, as event streams and over WebSockets, beside graphql-sse's handler over node:http and
// bytes made once over node:http alone, in turn: one event at a time, and bursts of them.
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { cpuOf, ownCpuUs } from './family.mjs';
import { startBare } from './peers/bare.mjs';
import { startGraphqlSse } from './peers/graphql-sse.mjs';
import { n, root, startService } from './service.mjs';
import { graphqlRequest, openStreams, request, lanes } from './lanes.mjs';

export const name = 'Events to 1,000 subscribers';

const SUBSCRIBERS = 1_000;
const BURST = 25;
const ROUNDS = 3;
const PATIENCE_MS = 30_000;
const SEND =
  'mutation ($id: String!, $name: String!, $data: String) { updateCounter(id: $id, name: $name, data: $data) }';
const stream = { accept: 'text/event-stream' };

async function ours(service) {
  const connection = lanes(service.url, 1);
  const id = JSON.parse(await connection.send(graphqlRequest('mutation { startCounter }'))).data.startCounter;
  const query = `subscription { agentEvent(agentId: "${id}") { name data timestamp } }`;
  const system = {
    ...service,
    name: 'graphstead',
    connection,
    open: streamsOf(service, graphqlRequest(query, undefined, stream)),
    tell: graphqlRequest(SEND, { id, name: 'tell' }),
    burst: graphqlRequest(SEND, { id, name: 'burst', data: String(BURST) }),
  };
  return [system, { ...system, name: 'graphstead over WebSockets', open: socketsOf(service, query) }];
}

/** Opens all subscribers, as streams; `heard` is told how many events came. Gives what closes them. */
const streamsOf =
  ({ url }, subscribe) =>
  (heard) =>
    openStreams(url, Array(SUBSCRIBERS).fill(subscribe), heard);

/** Resolves when the subscription stands: what is asked behind it has been answered. */
function begun(socket, query) {
  const say = (message) => socket.send(JSON.stringify(message));
  return new Promise((resolve) => {
    socket.once('open', () => say({ type: 'connection_init' }));
    socket.on('message', function hear(data) {
      const { type } = JSON.parse(data);
      if (type === 'complete') {
        socket.off('message', hear);
        resolve();
      } else if (type === 'connection_ack') {
        say({ id: 'events', type: 'subscribe', payload: { query } });
        say({ id: 'after', type: 'subscribe', payload: { query: '{ __typename }' } });
      }
    });
  });
}

/** The same over WebSockets. */
const socketsOf =
  ({ url }, query) =>
  async (heard) => {
    const sockets = Array.from(
      { length: SUBSCRIBERS },
      () => new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws'),
    );
    await Promise.all(sockets.map((socket) => begun(socket, query)));
    for (const socket of sockets) socket.on('message', () => heard(1));
    return () => {
      for (const socket of sockets) socket.terminate();
    };
  };

const peers = (service) => ({
  ...service,
  connection: lanes(service.url, 1),
  open: streamsOf(
    service,
    graphqlRequest('subscription { agentEvent { name data { count } timestamp } }', undefined, stream),
  ),
  tell: request('/tell'),
  burst: request('/burst'),
});

/** Publishes `times` after another, each as soon as the one before is acknowledged, until all subscribers have all of it. */
async function round(system, { bytes, times, events }) {
  const told = times * events * SUBSCRIBERS;
  let delivered = 0;
  let all = () => undefined;
  const arrived = new Promise((done) => {
    all = done;
  });
  const close = await system.open((count) => {
    delivered += count;
    if (delivered >= told) all();
  });
  const [from, cpu, own] = [performance.now(), cpuOf(system.pid), ownCpuUs()];
  for (let i = 0; i < times; i++) await system.connection.send(bytes(system));
  const patience = setTimeout(all, PATIENCE_MS);
  await arrived;
  clearTimeout(patience);
  const figures = {
    delivered,
    told,
    ms: performance.now() - from,
    cpu: cpuOf(system.pid) - cpu,
    own: ownCpuUs() - own,
  };
  close();
  return figures;
}

async function compare(print, what, systems, load) {
  const sums = systems.map(() => ({ delivered: 0, told: 0, ms: 0, cpu: 0, own: 0 }));
  for (const system of systems) await round(system, load);
  for (let i = 0; i < ROUNDS; i++) {
    for (const [k, system] of systems.entries()) {
      const figures = await round(system, load);
      for (const key of Object.keys(figures)) sums[k][key] += figures[key];
    }
  }
  const rates = sums.map(({ delivered, ms }) => (delivered * 1000) / ms);
  const costs = sums.map(({ delivered, cpu }) => (cpu * 1000) / delivered);
  for (const [k, { delivered, told, own }] of sums.entries()) {
    const cost = `CPU ${n(costs[k], 2)} us each, load generator ${n(own / delivered, 2)}`;
    print(`${what}: ${systems[k].name}`, `${n(rates[k])} deliveries/s, ${cost}; ${n(delivered)} of ${n(told)}`);
  }
  for (let k = 1; k < sums.length; k++) {
    const ratios = `rate ${n(rates[0] / rates[k], 1)}x, CPU ${n(costs[0] / costs[k], 2)}x`;
    print(`${what}: against ${systems[k].name}`, ratios);
  }
}

export async function run(print) {
  const service = await startService({ appDir: join(root, 'bench/app-counter') });
  const peer = await startGraphqlSse(print, { burst: BURST });
  const bare = await startBare(BURST);
  const systems = [];
  try {
    systems.push(...(await ours(service)));
    if (peer !== undefined) systems.push(peers(peer));
    systems.push(peers(bare));
    await compare(print, 'one at a time', systems, { bytes: ({ tell }) => tell, times: 40, events: 1 });
    await compare(print, `bursts of ${BURST}`, systems, { bytes: ({ burst }) => burst, times: 4, events: BURST });
  } finally {
    for (const { connection } of systems) connection.close();
    await peer?.stop();
    await bare.stop();
    await service.stop();
  }
}
