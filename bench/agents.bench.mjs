// Durable agents: a counter whose state is on disk before the reply, beside the same counter as a Durable Object. The two
// take turns in short rounds, so that what else the machine does meets both.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { anonymousKb, cpuOf, ownCpuUs } from './family.mjs';
import { startBare } from './peers/bare.mjs';
import { startWorkerd } from './peers/workerd.mjs';
import { cpuMs, load, n, root, scratch, startService } from './service.mjs';
import { slowDisk } from './slow-disk.mjs';
import { graphqlRequest, request, lanes } from './lanes.mjs';

export const name = 'Durable agents over GraphQL';

const ROUNDS = 3;
const AGENTS = 100;
const CLIENTS = 64;
const IDLE_MS = 1_000;
/** microseconds that a sync takes besides */
const SLOWER_US = [500, 1_000, 2_000];
/** before the first round of each system: V8 compiles what runs often, for as long */
const WARM_UP_MS = 10_000;
const SEND = 'mutation ($id: ID!) { counterCount(agentId: $id) }';
/** the same by a function of the app, which sends it in a process of its own */
const CALL = 'mutation ($id: String!, $name: String!) { updateCounter(id: $id, name: $name) }';

/** What a system must offer to be measured here: the bytes of requests, and the id in the answer to a start. */
function ours(service) {
  return {
    ...service,
    name: 'graphstead',
    start: graphqlRequest('mutation { startCounter }'),
    idOf: (body) => JSON.parse(body).data.startCounter,
    message: (id) => graphqlRequest(SEND, { id }),
    failed: (body) => body.includes('"errors"'),
  };
}

const durableObjects = (service) => ({
  ...service,
  start: request('/start'),
  idOf: (body) => body,
  message: (id) => request(`/${id}`),
  failed: (body) => !/^\d+$/.test(body),
});

/** Requests and answers of the same bytes as ours, and nothing behind them. */
const nothingBehind = (service) => ({
  ...service,
  start: graphqlRequest('mutation { startCounter }'),
  idOf: (body) => body,
  message: () => graphqlRequest(SEND, { id: 'agent_0123456789abcdef' }),
  failed: (body) => !body.startsWith('{"data"'),
});

async function open(system) {
  const connection = lanes(system.url, CLIENTS);
  const ids = [];
  for (let i = 0; i < AGENTS; i++) ids.push(system.idOf(await connection.send(system.start)));
  return { ...system, connection, ids, messages: ids.map(system.message) };
}

/** Rounds in turn; of each system the figures of all its rounds together. */
async function inTurn(systems, work, { clients, ms }) {
  const sums = systems.map(() => ({ count: 0, cpu: 0, main: 0, own: 0, ms: 0, p50: [], p99: [] }));
  for (const system of systems) await load({ clients, ms: WARM_UP_MS, work: work(system) });
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, system] of systems.entries()) {
      const [cpu, main, own, from] = [cpuOf(system.pid), cpuMs(system.pid), ownCpuUs(), performance.now()];
      const { count, p50, p99 } = await load({ clients, ms, work: work(system) });
      const sum = sums[i];
      sum.ms += performance.now() - from;
      sum.count += count;
      sum.cpu += cpuOf(system.pid) - cpu;
      sum.main += cpuMs(system.pid) - main;
      sum.own += ownCpuUs() - own;
      sum.p50.push(p50);
      sum.p99.push(p99);
    }
  }
  return sums.map((sum) => ({
    rate: (sum.count * 1000) / sum.ms,
    cpu: (sum.cpu * 1000) / sum.count,
    main: (sum.main * 1000) / sum.count,
    own: sum.own / sum.count,
    p50: middle(sum.p50),
    p99: middle(sum.p99),
  }));
}

const middle = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

function tell(print, what, systems, figures) {
  for (const [i, { rate, cpu, main, own, p50, p99 }] of figures.entries()) {
    const hosts = i === 0 ? ` (main process ${n(main)})` : '';
    print(
      `${what}: ${systems[i].name}`,
      `${n(rate)}/s  p50 ${n(p50, 1)} ms  p99 ${n(p99, 1)} ms  CPU ${n(cpu)} us${hosts}, load generator ${n(own)}`,
    );
  }
  const [us, ...others] = figures;
  for (const [i, other] of others.entries()) {
    const ratios = `rate ${n(us.rate / other.rate, 2)}x, CPU ${n(us.cpu / other.cpu, 2)}x`;
    print(`${what}: against ${systems[i + 1].name}`, ratios);
  }
}

const sendTo = (count) => (system) => async (i) => {
  const body = await system.connection.send(system.messages[i % count]);
  if (system.failed(body)) throw new Error(`${system.name}: ${body.slice(0, 300)}`);
};

/** A function of the app between, and the bytes of the agent's state as a value of a node: what the commit alone costs. */
async function againstOthers(print, system) {
  const nodes = Array.from({ length: AGENTS }, (_, i) => `_:n${i} <counter.state> "" .`).join('\n');
  const uids = Object.values(JSON.parse(await system.connection.send(mutation(nodes))).data.uids);
  const commit = () => async (i) => {
    const body = await system.connection.send(mutation(`<${uids[i % AGENTS]}> <counter.state> "{\\"count\\":${i}}" .`));
    if (body.includes('"errors"')) throw new Error(body.slice(0, 300));
  };
  const called = { ...system, messages: system.ids.map((id) => graphqlRequest(CALL, { id, name: 'count' })) };
  const kinds = [
    { ...system, work: sendTo(AGENTS)(system) },
    { ...system, name: 'a plain mutation', work: commit() },
    { ...system, name: 'a message by a function', work: sendTo(AGENTS)(called) },
  ];
  const [message, plain, byFunction] = await inTurn(kinds, ({ work }) => work, { clients: CLIENTS, ms: 1_500 });
  print(
    'a message that a function of the app sends',
    `${n(byFunction.rate)}/s = ${n(byFunction.rate / message.rate, 2)}x, CPU ${n(byFunction.cpu)} us = ${n(byFunction.cpu / message.cpu, 2)}x`,
  );
  print(
    'a message against a mutation of the same bytes',
    `rate ${n(plain.rate)} / ${n(message.rate)} = ${n(plain.rate / message.rate, 2)}x`,
  );
  print(
    'the same in CPU',
    `${n(message.cpu)} / ${n(plain.cpu)} us = ${n(message.cpu / plain.cpu, 2)}x, main process ${n(message.main / plain.main, 2)}x`,
  );
}

const mutation = (set) =>
  request('/mutate?commitNow=true', `{ set { ${set} } }`, { 'content-type': 'application/rdf' });

async function start(system, count) {
  let left = count;
  const one = async () => {
    while (left-- > 0) system.idOf(await system.connection.send(system.start));
  };
  await Promise.all(Array.from({ length: CLIENTS }, one));
}

async function starts(print, systems) {
  const rates = [];
  for (const [i, system] of systems.entries()) {
    const count = i === 0 ? 10_000 : 500;
    const [from, cpu] = [performance.now(), cpuOf(system.pid)];
    await start(system, count);
    const ms = performance.now() - from;
    const us = ((cpuOf(system.pid) - cpu) * 1000) / count;
    rates.push((count * 1000) / ms);
    print(`${n(count)} durable starts: ${system.name}`, `${n(ms)} ms, ${n(rates[i])}/s, ${n(us)} us of CPU each`);
  }
  if (rates.length > 1) print('durable starts: ratio', `${n(rates[0] / rates[1], 1)}x`);
}

/** What each more takes once as many have come and gone to rest, without garbage. */
async function memory(print, systems) {
  const counts = systems.map((_, i) => (i === 0 ? 20_000 : 500));
  const round = async () => {
    for (const [i, system] of systems.entries()) await start(system, counts[i]);
    await untilIdle(systems[0]);
    process.kill(systems[0].pid, 'SIGUSR2'); // see collect.mjs
    await new Promise((done) => setTimeout(done, 1_000));
    return systems.map(({ pid }) => anonymousKb(pid));
  };
  await round(); // processes grow with their first agents, whatever becomes of those
  const before = await round();
  const after = await round();
  for (const [i, { name }] of systems.entries()) {
    print(`memory of an idle agent, all processes: ${name}`, `${n((after[i] - before[i]) / counts[i], 1)} KB`);
  }
}

/** Every agent has left memory: it was idle for as long as this run's limits allow. */
async function untilIdle({ url }) {
  for (;;) {
    const text = await (await fetch(`${url}/metrics`)).text();
    if (/agents_in_memory\S* 0$/m.test(text)) break;
    await new Promise((again) => setTimeout(again, 200));
  }
  await new Promise((done) => setTimeout(done, 12_000)); // Durable Objects leave after ten seconds
}

/** Runs work on both systems, in an environment, and ends them. */
async function onBoth(print, environment, work) {
  const service = await startService({ appDir: join(root, 'bench/app-counter'), environment });
  const peer = await startWorkerd(print, environment);
  const systems = [];
  try {
    systems.push(await open(ours(service)));
    if (peer !== undefined) systems.push(await open(durableObjects(peer)));
    await work(systems);
  } finally {
    for (const { connection } of systems) connection.close();
    await peer?.stop();
    await service.stop();
  }
}

const many = { clients: CLIENTS, ms: 2_000 };
const single = { clients: 1, ms: 1_000 };

/** Both where a sync takes as long as on the disks of machines that people rent: what waits for it is what differs. */
async function onSlowerDisks(print) {
  const folder = scratch('slow');
  const slow = slowDisk(folder.dir);
  if (slow === undefined) print('on slower disks', 'left out: it takes a C compiler, on Linux');
  for (const us of slow ? SLOWER_US : []) {
    const where = `a sync takes ${us / 1000} ms longer`;
    await onBoth(print, slow(us), async (systems) => {
      tell(print, `${where}, 100 agents, 64 clients`, systems, await inTurn(systems, sendTo(AGENTS), many));
      tell(print, `${where}, 1 agent, 1 client`, systems, await inTurn(systems, sendTo(1), single));
    });
  }
  folder.remove();
}

async function besideNodeAlone(print, systems) {
  const bare = await startBare();
  const all = [...systems, await open(nothingBehind(bare))];
  tell(print, '100 agents, 64 clients', all, await inTurn(all, sendTo(AGENTS), many));
  tell(print, '1 agent, 1 client', all, await inTurn(all, sendTo(1), single));
  all.at(-1).connection.close();
  await bare.stop();
}

export async function run(print) {
  const idle = { GRAPHSTEAD_LIMIT_AGENT_IDLE_MS: String(IDLE_MS) };
  await onBoth(print, idle, async (systems) => {
    await besideNodeAlone(print, systems);
    await againstOthers(print, systems[0]);
    await starts(print, systems);
  });
  const collecting = { NODE_OPTIONS: `--import ${pathToFileURL(join(root, 'bench/collect.mjs'))}` };
  await onBoth(print, { ...idle, ...collecting }, (systems) => memory(print, systems));
  await onSlowerDisks(print);
}
