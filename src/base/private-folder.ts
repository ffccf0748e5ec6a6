import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf } from './errors.js';

const MODE = 0o700;

/**
 * Makes a folder, and those above it that are missing, that no other user may look into: data holds secrets of type definitions and of
 * people. One that is there keeps the rights that somebody gave it. Throws what the system says.
 */
export function makePrivateFolder(path: string): void {
  const whole = resolve(path);
  if (!isFolder(whole)) make(whole);
}

/** One after the other: asked for all at once, Node.js never comes back where none can be made, as in /proc, and says of a read-only volume that it is not there. */
function make(path: string): void {
  const above = dirname(path);
  if (!existsSync(above)) make(above);
  try {
    mkdirSync(path, { mode: MODE });
  } catch (error) {
    // somebody else may have made it just now
    if (codeOf(error) !== 'EEXIST' || !isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
