import { mkdirSync } from 'node:fs';

/**
 * Makes a folder, and those above it that are missing, that no other user may look into: data holds secrets of type definitions and of
 * people. One that is there keeps the rights that somebody gave it. Throws what the system says.
 */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}
