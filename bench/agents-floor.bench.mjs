// What a durable message costs before anything of ours: below it no service gets that is written with node:http, keeps app code
// in a process of its own, and stores with LMDB.
import { join } from 'node:path';
import { cpuOf, ownCpuUs } from './family.mjs';
import { graphqlRequest, lanes } from './lanes.mjs';
import { startPeer } from './peers/start.mjs';
import { load, n, root, startService } from './service.mjs';

export const name = 'The least that a durable message costs: node:http, hops to another process, an LMDB commit';

const CLIENTS = 64;
const AGENTS = 100;
const MS = 3_000;
const SEND = 'mutation ($id: ID!) { counterCount(agentId: $id) }';
const messageTo = (id) => graphqlRequest(SEND, { id });
const IDS = Array.from({ length: AGENTS }, (_, i) => `agent_${String(i).padStart(16, '0')}`);

async function measure(server, idsOf) {
  const connection = lanes(server.url, CLIENTS);
  const messages = (await idsOf(connection)).map(messageTo);
  const round = (ms) => load({ clients: CLIENTS, ms, work: (i) => connection.send(messages[i % AGENTS]) });
  await round(MS / 2);
  const [cpu, own] = [cpuOf(server.pid), ownCpuUs()];
  const { rate, count } = await round(MS);
  const figures = { rate, us: ((cpuOf(server.pid) - cpu) * 1_000) / count, own: (ownCpuUs() - own) / count };
  connection.close();
  await server.stop();
  return figures;
}

const bare = async (hops, commit) => {
  const args = [join(root, 'bench/peers/floor-server.mjs'), String(hops), commit ? 'yes' : 'no'];
  return measure(await startPeer('floor', args), async () => IDS);
};

async function started(connection) {
  const ids = [];
  for (let i = 0; i < AGENTS; i++) {
    ids.push(JSON.parse(await connection.send(graphqlRequest('mutation { startCounter }'))).data.startCounter);
  }
  return ids;
}

export async function run(print) {
  const tell = (what, { rate, us, own }) =>
    print(`${what}, 64 clients`, `${n(rate)}/s, CPU ${n(us)} us a message, load generator ${n(own)}`);
  let floor;
  for (const commit of [false, true]) {
    for (const hops of [0, 1]) {
      floor = await bare(hops, commit);
      tell(`${hops} hops, ${commit ? 'a commit' : 'no commit'}`, floor);
    }
  }
  const us = await measure(await startService({ appDir: join(root, 'bench/app-counter') }), started);
  tell('graphstead', us);
  print('against 1 hop and a commit', `rate ${n(us.rate / floor.rate, 2)}x, CPU ${n(us.us / floor.us, 2)}x`);
}
