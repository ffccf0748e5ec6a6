// Runs the public conformance cases against a fresh service and holds the scores above test/conformance-floor.json.
// With SLOW_MS=50 it also tells the queries that took the service longer than so many ms of processor time (Linux).
// The cases are read from $CONFORMANCE, else ../shared/conformance; where that folder is absent this says so and passes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = process.env.CONFORMANCE ?? resolve(root, '../shared/conformance');
const floor = JSON.parse(readFileSync(join(root, 'test/conformance-floor.json'), 'utf8'));

if (!existsSync(join(folder, 'README.md'))) {
  console.log(`conformance: no cases at ${folder}; set CONFORMANCE to their folder. Nothing was measured.`);
  process.exit(0);
}

/** Starts the service on any free port; resolves with its address. */
async function startService(data) {
  const child = spawn(
    process.execPath,
    [
      join(root, 'bin/graphstead.js'),
      'start',
      '--compat',
      'dgraph',
      '--port',
      '0',
      '--grpc-port',
      '0',
      '--json',
      '--data',
      data,
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{')) continue;
    const message = JSON.parse(line);
    if (message.url) return { child, url: message.url, ended: once(child, 'exit') };
  }
  throw new Error('the service ended before it listened');
}

function run(script, args, pid) {
  return new Promise((done) => {
    const slow = process.env.SLOW_MS ? ['--import', join(root, 'test/slow-requests.mjs')] : [];
    const child = spawn(process.execPath, [...slow, join(folder, script), ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, SLOW_PID: String(pid) },
    });
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    child.on('close', () => done(text));
  });
}

/** `{passed, failed}` from the runner's closing line. */
function score(text) {
  const last = [...text.matchAll(/(\d+) passed, (\d+) failed/g)].at(-1);
  if (!last) throw new Error(`the runner printed no score:\n${text.slice(-2000)}`);
  return { passed: Number(last[1]), failed: Number(last[2]) };
}

async function measure(name, script, args) {
  const data = mkdtempSync(join(tmpdir(), 'graphstead-conformance-'));
  const service = await startService(data);
  try {
    const text = await run(script, ['--base', service.url, '--cases', join(folder, name), ...args], service.child.pid);
    console.log(text.trimEnd());
    return score(text);
  } finally {
    service.child.kill('SIGKILL');
    await service.ended; // until then it may write
    rmSync(data, { recursive: true, force: true });
  }
}

const results = {
  dql: await measure('dql', 'run-dql.mjs', ['--anyError']),
  graphql: await measure('graphql', 'run-graphql.mjs', [
    '--node-modules',
    join(root, 'node_modules'),
    '--skip-tags',
    'lambda',
    '--query-path',
    '/query',
  ]),
};
let below = 0;
for (const [name, { passed, failed }] of Object.entries(results)) {
  const percent = ((100 * passed) / Math.max(1, passed + failed)).toFixed(1);
  console.log(`conformance ${name}: ${passed} of ${passed + failed} (${percent}%), floor ${floor[name]}`);
  if (passed < floor[name]) below++;
}
if (below > 0) {
  console.error('conformance fell below test/conformance-floor.json');
  process.exit(1);
}
