import { existsSync, mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf } from './errors.js';

const MODE = 0o700;

/**
 * Makes a folder, and those above it that are missing, that no other user may look into: data holds secrets of type definitions and of
 * people. One that is there keeps the rights that somebody gave it. Throws what the system says.
 */
export function makePrivateFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: MODE });
  } catch (error) {
    // Node.js says so of one that the system refuses to make on a read-only volume; asked for alone it tells why
    if (codeOf(error) === 'ENOENT') mkdirSync(firstMissing(resolve(path)), { mode: MODE });
    throw error;
  }
}

function firstMissing(path: string): string {
  const above = dirname(path);
  return existsSync(above) || above === path ? path : firstMissing(above);
}
