// A service of its own process on a temporary directory, as users run it, and the figures that measures share.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

export function scratch(prefix = 'bench') {
  const dir = mkdtempSync(join(tmpdir(), `graphstead-${prefix}-`));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** Starts the command; resolves once it tells its address. `startedMs` is the time that took. */
export async function startService({ data, args = [], command = 'start', appDir, environment = {} } = {}) {
  const own = data === undefined ? scratch('data') : undefined;
  const from = performance.now();
  const child = spawn(
    process.execPath,
    [
      join(root, 'bin/graphstead.js'),
      command,
      ...(appDir ? [appDir] : []),
      '--port',
      '0',
      '--grpc-port',
      '0',
      '--json',
      '--data',
      data ?? own.dir,
      ...args,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, GRAPHSTEAD_LOG: 'silent', ...environment } },
  );
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{')) continue;
    const { url } = JSON.parse(line);
    return {
      url,
      pid: child.pid,
      startedMs: performance.now() - from,
      async stop(signal = 'SIGTERM') {
        child.kill(signal);
        await new Promise((done) =>
          child.exitCode === null && child.signalCode === null ? child.once('exit', done) : done(),
        );
        own?.remove();
      },
    };
  }
  throw new Error('the service ended before it listened');
}

/** A keep-alive HTTP client that costs little: the load generator shares the machine with the service. */
export function client(url, sockets = 64) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: sockets });
  const { hostname, port } = new URL(url);
  return {
    post: (path, body, type = 'application/json') =>
      new Promise((resolve, reject) => {
        const request = http.request(
          {
            agent,
            hostname,
            port,
            path,
            method: 'POST',
            headers: { 'content-type': type, 'content-length': Buffer.byteLength(body) },
          },
          (response) => {
            const parts = [];
            response.on('data', (part) => parts.push(part));
            response.on('end', () => resolve(Buffer.concat(parts)));
          },
        );
        request.on('error', reject);
        request.end(body);
      }),
    close: () => agent.destroy(),
  };
}

/** Runs `work(i)` with `clients` at once for `ms`; rate a second and latencies in ms. */
export async function load({ clients, ms, work }) {
  const latencies = [];
  const end = performance.now() + ms;
  let next = 0;
  const from = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < end) {
        const at = performance.now();
        await work(next++);
        latencies.push(performance.now() - at);
      }
    }),
  );
  const seconds = (performance.now() - from) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))];
  return { rate: latencies.length / seconds, p50: at(0.5), p99: at(0.99), count: latencies.length };
}

const TICK_MS = 10;

/** CPU time of a process so far, in ms, user and system (Linux): the truth on a machine that does other things too. */
export function cpuMs(pid) {
  const [, fields] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user, system] = fields.split(' ').slice(11, 13);
  return (Number(user) + Number(system)) * TICK_MS;
}

/** The middle of some figures. */
export const middle = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/** Median milliseconds that Node.js itself takes to start and end: a start of ours cannot be below. */
export async function nodeStart(runs = 5) {
  const times = [];
  for (let i = 0; i < runs; i++) {
    const from = performance.now();
    const child = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' });
    await new Promise((done) => child.once('exit', done));
    times.push(performance.now() - from);
  }
  return middle(times);
}

/** Median milliseconds of `runs` calls, after as many to warm up. */
export async function median(runs, work) {
  for (let i = 0; i < runs; i++) await work();
  const times = [];
  for (let i = 0; i < runs; i++) {
    const from = performance.now();
    await work();
    times.push(performance.now() - from);
  }
  return middle(times);
}

export const n = (value, digits = 0) =>
  value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits });
