// Packages of peers, installed on demand into a folder outside of this repository; nothing of them is a dependency.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const INSTALL_MS = 120_000;

/**
 * The folder whose node_modules holds the packages ({ name: version }); undefined, after a line that says so, where the
 * registry cannot be reached. No package's install script runs.
 */
export function installPeers(packages, print) {
  const names = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
  const dir = join(tmpdir(), `graphstead-peers-${names.join('-').replace(/[^\w.@-]/g, '-')}`);
  const done = join(dir, 'installed');
  if (existsSync(done)) return dir;
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'package.json'), '{"private": true}\n');
  try {
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1', ...names];
    execFileSync('npm', args, { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'], timeout: INSTALL_MS });
  } catch (error) {
    const why =
      String(error.stderr ?? error.message)
        .split('\n')
        .find((line) => /error/i.test(line)) ?? error.message;
    print(`left out: ${names.join(', ')} could not be installed`, why.trim());
    return undefined;
  }
  writeFileSync(done, names.join('\n'));
  return dir;
}
