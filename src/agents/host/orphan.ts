import { Worker } from 'node:worker_threads';

// A host whose main process was killed learns of it from its channel, unless its own thread is held by a loop. A second
// thread that only looks at the parent's id ends it then.
const WATCH = `
  const parent = process.ppid;
  setInterval(() => { if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL'); }, 1000);
`;

export function endWithParent(): void {
  const limits = { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1, stackSizeMb: 1 };
  const worker = new Worker(WATCH, { eval: true, resourceLimits: limits, stdin: false });
  worker.on('error', () => undefined);
  worker.unref();
}
