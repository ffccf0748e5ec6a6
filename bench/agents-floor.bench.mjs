// What a durable message costs before anything of ours: below it no service gets that is written with node:http, keeps app code
// in a process of its own, and stores with LMDB.
import { join } from 'node:path';
import { cpuOf, ownCpuUs } from './family.mjs';
import { graphqlRequest, lanes } from './lanes.mjs';
import { startPeer } from './peers/start.mjs';
import { load, n, root } from './service.mjs';

export const name = 'The least that a durable message costs: node:http, hops to another process, an LMDB commit';

const CLIENTS = 64;
const AGENTS = 100;
const MS = 3_000;
const SEND = 'mutation ($id: String!, $name: String!) { updateCounter(id: $id, name: $name) }';
const messages = Array.from({ length: AGENTS }, (_, i) =>
  graphqlRequest(SEND, { id: `agent_${String(i).padStart(16, '0')}`, name: 'count' }),
);

async function measure(hops, commit) {
  const args = [join(root, 'bench/peers/floor-server.mjs'), String(hops), commit ? 'yes' : 'no'];
  const server = await startPeer('floor', args);
  const connection = lanes(server.url, CLIENTS);
  const round = (ms) => load({ clients: CLIENTS, ms, work: (i) => connection.send(messages[i % AGENTS]) });
  await round(MS / 3);
  const [cpu, own] = [cpuOf(server.pid), ownCpuUs()];
  const { rate, count } = await round(MS);
  const figures = { rate, us: ((cpuOf(server.pid) - cpu) * 1_000) / count, own: (ownCpuUs() - own) / count };
  connection.close();
  await server.stop();
  return figures;
}

export async function run(print) {
  for (const commit of [false, true]) {
    for (const hops of [0, 1, 2]) {
      const { rate, us, own } = await measure(hops, commit);
      const what = `${hops} hops, ${commit ? 'a commit' : 'no commit'}, 64 clients`;
      print(what, `${n(rate)}/s, CPU ${n(us)} us a message, load generator ${n(own)}`);
    }
  }
}
