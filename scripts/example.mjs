// Loads the packages example into a temporary directory with the import command and serves it on a free port.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { quads } from '../examples/packages/lock-file.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const command = join(root, 'bin/graphstead.js');

export async function startExample() {
  const dir = mkdtempSync(join(tmpdir(), 'graphstead-example-'));
  const file = join(dir, 'packages.rdf');
  const data = join(dir, 'data');
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  writeFileSync(file, [...quads(lock)].join('\n'));
  const schema = join(root, 'examples/packages/schema.graphql');
  const loaded = spawnSync(process.execPath, [command, 'import', file, '--graphql', schema, '--data', data], {
    stdio: 'pipe',
  });
  if (loaded.status !== 0) throw new Error(`import failed: ${loaded.stderr}`);
  const child = spawn(
    process.execPath,
    [command, 'start', join(root, 'examples/packages'), '--data', data, '--port', '0', '--grpc-port', '0', '--json'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, GRAPHSTEAD_LOG: 'error' },
    },
  );
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{')) continue;
    const { url } = JSON.parse(line);
    if (!url) continue;
    return {
      url,
      async stop() {
        child.kill('SIGTERM');
        await new Promise((done) => child.once('exit', done));
        rmSync(dir, { recursive: true, force: true });
      },
    };
  }
  throw new Error('the service ended before it listened');
}
