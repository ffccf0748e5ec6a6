// Durable agents over GraphQL: messages, starts, memory of idle agents, events to many subscribers.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { client, cpuMs, load, n, root, startService } from './service.mjs';

export const name = 'Durable agents over GraphQL';

const SEND = 'mutation ($id: String!, $name: String!) { updateCounter(id: $id, name: $name) }';

/** The main process and its hosts. */
function family(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return [pid, ...children.map(Number)];
}

const cpuOf = (pid) => family(pid).reduce((sum, one) => sum + cpuMs(one), 0);
const residentMb = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

async function messages(service, send, ids, clients, ms) {
  await load({ clients, ms: ms / 3, work: (i) => send(ids[i % ids.length], 'count') });
  const [all, main] = [cpuOf(service.pid), cpuMs(service.pid)];
  const figures = await load({ clients, ms, work: (i) => send(ids[i % ids.length], 'count') });
  const us = (to, from) => ((to - from) * 1000) / figures.count;
  return { ...figures, cpu: us(cpuOf(service.pid), all), main: us(cpuMs(service.pid), main) };
}

/** Opens event streams; `received` counts what came. */
async function subscribe(url, ids, counted) {
  const { hostname, port } = new URL(url);
  const agent = new http.Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const open = (id) =>
    new Promise((resolve, reject) => {
      const query = `subscription { agentEvent(agentId: "${id}", names: ["counted"]) { name data } }`;
      const request = http.request(
        {
          agent,
          hostname,
          port,
          path: '/graphql',
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        },
        (response) => {
          response.on('data', (part) => {
            for (let i = part.indexOf('event: next'); i !== -1; i = part.indexOf('event: next', i + 1)) counted();
          });
          response.on('error', () => undefined);
          resolve(request);
        },
      );
      request.on('error', (error) => (request.destroyed ? undefined : reject(error)));
      request.end(JSON.stringify({ query }));
    });
  const streams = [];
  for (let from = 0; from < ids.length; from += 50) {
    streams.push(...(await Promise.all(ids.slice(from, from + 50).map(open))));
  }
  return () => {
    for (const stream of streams) stream.destroy();
    agent.destroy();
  };
}

export async function run(print) {
  const service = await startService({ appDir: join(root, 'bench/app-counter') });
  const connection = client(service.url);
  const graphql = async (query, variables) => {
    const body = await connection.post('/graphql', JSON.stringify({ query, ...(variables ? { variables } : {}) }));
    const { data, errors } = JSON.parse(body.toString());
    if (errors) throw new Error(JSON.stringify(errors).slice(0, 500));
    return data;
  };
  const send = (id, message) => graphql(SEND, { id, name: message });
  const start = async () => (await graphql('mutation { startCounter }')).startCounter;
  try {
    const ids = await Promise.all(Array.from({ length: 100 }, start));
    const many = await messages(service, send, ids, 64, 5000);
    print(
      '100 agents, 64 clients: messages/s, p50, p99',
      `${n(many.rate)}/s  ${n(many.p50, 1)} ms  ${n(many.p99, 1)} ms`,
    );
    print('CPU a message: all processes, of it the main one', `${n(many.cpu)} us, ${n(many.main)} us`);
    const one = await messages(service, send, ids.slice(0, 1), 1, 2500);
    print('one agent, one client: messages/s, p99', `${n(one.rate)}/s  ${n(one.p99, 1)} ms`);

    let delivered = 0;
    const close = await subscribe(service.url, Array(1000).fill(ids[0]), () => delivered++);
    const from = performance.now();
    const before = cpuOf(service.pid);
    const told = 20;
    for (let i = 0; i < told; i++) await send(ids[0], 'tell');
    while (delivered < told * 1000 && performance.now() - from < 10_000) await new Promise((go) => setTimeout(go, 5));
    const seconds = (performance.now() - from) / 1000;
    print('1,000 subscribers: deliveries/s', `${n(delivered / seconds)}/s (${n(delivered)} of ${n(told * 1000)})`);
    print('CPU a delivery, all processes', `${n(((cpuOf(service.pid) - before) * 1000) / delivered, 1)} us`);
    close();

    const resident = residentMb(service.pid);
    const hosts = () =>
      family(service.pid)
        .slice(1)
        .reduce((sum, pid) => sum + residentMb(pid), 0);
    const residentHosts = hosts();
    const begun = performance.now();
    const cpu = cpuOf(service.pid);
    let left = 10_000;
    await Promise.all(
      Array.from({ length: 64 }, async () => {
        while (left-- > 0) await start();
      }),
    );
    print(
      '10,000 durable starts',
      `${n(performance.now() - begun)} ms, ${n((cpuOf(service.pid) - cpu) / 10)} us of CPU each`,
    );
    print(
      'memory a started agent: main process, hosts',
      `${n(((residentMb(service.pid) - resident) * 1024) / 10_000, 1)} KB, ${n(((hosts() - residentHosts) * 1024) / 10_000, 1)} KB`,
    );
  } finally {
    connection.close();
    await service.stop();
  }
}
