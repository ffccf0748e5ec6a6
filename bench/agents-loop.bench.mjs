// An endless loop in one agent: its caller hears of it soon after the deadline, and nobody else notices.
import { join } from 'node:path';
import { family } from './family.mjs';
import { cpuMs, load, n, root, startService } from './service.mjs';
import { graphqlRequest, lanes } from './lanes.mjs';

export const name = 'An endless loop in one agent';

const DEADLINE_MS = 1_000;
const OTHERS = 100;
const CLIENTS = 16;
const LOOPS = 5;
const LOOK_MS = 10;
const SEND = 'mutation ($id: String!, $name: String!) { updateCounter(id: $id, name: $name) }';

/** Notes what CPU the busiest host used from now on that is gone at the end: on a busy machine wall time says little. */
function watchDeaths(pid, used) {
  const hosts = new Map(
    family(pid)
      .slice(1)
      .map((one) => [one, { from: cpuMs(one), last: cpuMs(one) }]),
  );
  const look = () => {
    for (const [one, seen] of hosts) {
      try {
        seen.last = cpuMs(one);
      } catch {
        seen.gone = true;
      }
    }
  };
  const timer = setInterval(look, LOOK_MS);
  return () => {
    clearInterval(timer);
    look();
    const dead = [...hosts.values()].filter(({ gone }) => gone).map(({ from, last }) => last - from);
    used.push(Math.max(...dead));
  };
}

export async function run(print) {
  const environment = { GRAPHSTEAD_LIMIT_TURN_THREAD_MS: String(DEADLINE_MS) };
  const service = await startService({ appDir: join(root, 'bench/app-counter'), environment });
  const connection = lanes(service.url, CLIENTS + 1);
  const ask = async (bytes) => JSON.parse(await connection.send(bytes));
  try {
    const ids = [];
    while (ids.length <= OTHERS) ids.push((await ask(graphqlRequest('mutation { startCounter }'))).data.startCounter);
    const [looping, ...others] = ids;
    const messages = others.map((id) => graphqlRequest(SEND, { id, name: 'count' }));
    const loop = graphqlRequest(SEND, { id: looping, name: 'loop' });
    const acknowledged = others.map(() => 0);
    const failures = [];
    let slowest = 0;
    const work = async (i) => {
      const k = i % OTHERS;
      const from = performance.now();
      const { data, errors } = await ask(messages[k]);
      slowest = Math.max(slowest, performance.now() - from);
      if (errors !== undefined) failures.push(errors[0].message);
      else if (Number(data.updateCounter) > 0) acknowledged[k]++;
    };
    const quiet = await load({ clients: CLIENTS, ms: 2_000, work });
    slowest = 0;
    const late = [];
    const cpu = [];
    let told = '';
    const looped = (async () => {
      for (let i = 0; i < LOOPS; i++) {
        const from = performance.now();
        const stop = watchDeaths(service.pid, cpu);
        const { errors } = await ask(loop);
        late.push(performance.now() - from - DEADLINE_MS);
        stop();
        told = errors?.[0].extensions.code ?? 'no error';
      }
    })();
    const meanwhile = await load({ clients: CLIENTS, ms: 4_000, work });
    await looped;
    print(
      'the error comes after its deadline by',
      `${late.map((ms) => n(ms)).join(', ')} ms (${told}, deadline ${n(DEADLINE_MS)} ms of thread time)`,
    );
    print('CPU of the process that looped, when it was last seen', `${cpu.map((ms) => n(ms)).join(', ')} ms`);
    print(
      'other agents meanwhile',
      `${n(meanwhile.count)} messages, ${failures.length} errors${failures[0] ? `: ${failures[0]}` : ''}`,
    );
    print(
      'their rate, and before',
      `${n(meanwhile.rate)}/s, ${n(quiet.rate)}/s; p99 ${n(meanwhile.p99)} ms, ${n(quiet.p99)} ms; slowest ${n(slowest)} ms`,
    );
    let lost = 0;
    for (const [k, bytes] of messages.entries()) {
      const { data } = await ask(bytes);
      if (Number(data.updateCounter) !== acknowledged[k] + 1) lost++;
    }
    print('agents whose count is not that of their acknowledged messages', n(lost));
    const { data } = await ask(graphqlRequest(SEND, { id: looping, name: 'count' }));
    print('the agent that looped answers again, its count', data.updateCounter);
  } finally {
    connection.close();
    await service.stop();
  }
}
