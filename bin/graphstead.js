#!/usr/bin/env node
// In a clone, dist/ is bundled first when a source is newer; an installed package holds dist/ already.
import { existsSync, writeSync } from 'node:fs';
import * as module from 'node:module';
import { fileURLToPath } from 'node:url';

// Where the system gives no more files, it may be the program's own that cannot be read: what tells of it must be here.
process.on('uncaughtExceptionMonitor', (thrown) => {
  if (thrown?.code !== 'EMFILE' && thrown?.code !== 'ENFILE') return;
  const told = `the system gives no more open files: ${thrown.message}`;
  const fix = 'raise the limit of open files: ulimit -n, LimitNOFILE of a unit, --ulimit nofile of a container';
  const error = { code: 'OVERLOADED', message: told, fix };
  const line = process.argv.includes('--json') ? JSON.stringify({ error }) : `OVERLOADED: ${told}\n  fix: ${fix}`;
  writeSync(2, `${line}\n`);
  process.exit(3);
});
// The first process of a container is told of no signal that it does not listen to: it could not be stopped before it serves, nor
// could a command.
const endByItself = (signal) => {
  if (process.listenerCount(signal) === 1) process.exit(130);
};
if (process.pid === 1) for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, endByItself);
// Node 22.8 and later keep what they compiled. Not in the folder for temporary files, where others of this machine write;
// a folder that cannot be written changes nothing.
module.enableCompileCache?.(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)));
const script = new URL('../scripts/build.mjs', import.meta.url);
if (existsSync(script)) await (await import(script.href)).build();
const { main } = await import(new URL('../dist/cli/main.js', import.meta.url).href);
await main(process.argv.slice(2));
