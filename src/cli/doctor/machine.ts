import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { asError, freeBytes, type Limits, makeLimits } from '../../base/index.js';
import { bad, type Finding, good, warning } from './finding.js';

const OLDEST = [20, 19] as const;

export function checkNode(): Finding {
  const version = process.versions.node;
  const [major, minor] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return good('node', `Node ${version}`);
  return bad('node', `Node ${version} is too old`, `use Node ${OLDEST.join('.')} or later`);
}

export function checkDisk(data: string): Finding {
  let limits: Limits;
  try {
    limits = makeLimits({}, process.env);
  } catch (error) {
    const { message, fix } = asError(error);
    return bad('limits', message, fix ?? '');
  }
  const { diskReserve } = limits;
  const free = freeBytes(nearest(data));
  const text = `${(free / 1e9).toFixed(1)} GB are free for ${data}`;
  if (free < diskReserve) return bad('disk', text, `free some: below ${diskReserve} bytes nothing is written`);
  return free < 10 * diskReserve ? warning('disk', text, 'free some before data grows') : good('disk', text);
}

function nearest(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearest(dirname(path));
}
