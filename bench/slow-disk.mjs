// A disk whose syncs take longer than this machine's, for processes that are started with its environment.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './service.mjs';

/** Builds it into a folder. Answers with the environment for a sync that takes `us` longer; undefined without a C compiler. */
export function slowDisk(folder) {
  if (process.platform !== 'linux') return undefined;
  const library = join(folder, 'slow-disk.so');
  try {
    const sources = join(root, 'bench/slow-disk.c');
    execFileSync('cc', ['-O2', '-shared', '-fPIC', '-o', library, sources, '-ldl'], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  return (us) => ({ LD_PRELOAD: library, SLOW_SYNC_US: String(us) });
}

// One page after the other, each with its sync, in the file named on the command line.
const PROBE = `
  const { openSync, writeSync, fdatasyncSync } = require('node:fs');
  const fd = openSync(process.argv[1], 'w');
  const page = Buffer.alloc(4096, 1);
  for (let i = 0; i < 256; i++) writeSync(fd, page, 0, 4096, i * 4096);
  fdatasyncSync(fd);
  const [from, end] = [performance.now(), performance.now() + 1000];
  let count = 0;
  while (performance.now() < end) {
    writeSync(fd, page, 0, 4096, (count++ % 256) * 4096);
    fdatasyncSync(fd);
  }
  console.log((count * 1000) / (performance.now() - from));
`;

/** Pages written and synced in a second, in a process with this environment. */
export function syncRate(folder, environment) {
  const env = { ...process.env, ...environment };
  return Number(execFileSync(process.execPath, ['-e', PROBE, join(folder, 'slow-probe')], { env, encoding: 'utf8' }));
}
