// A service and the processes it started: their CPU and memory as the operating system counts them (Linux).
import { readFileSync } from 'node:fs';
import { cpuMs } from './service.mjs';

/** The main process first, then its hosts. */
export function family(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return [pid, ...children.map(Number)];
}

export const cpuOf = (pid) => family(pid).reduce((sum, one) => sum + cpuMs(one), 0);

/** KiB of memory that is no mapped file, of all processes of the service. */
export function anonymousKb(pid) {
  const of = (one) => Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${one}/status`, 'utf8'))[1]);
  return family(pid).reduce((sum, one) => sum + of(one), 0);
}

/** Microseconds of CPU that this process, which makes the load, has used. */
export function ownCpuUs() {
  const { user, system } = process.cpuUsage();
  return user + system;
}
