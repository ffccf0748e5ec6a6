import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

const SETTLE_MS = 60;
const SOURCES = /(\.(ts|tsx|mts|js|mjs|json|jsonc)|^\.env(\..+)?)$/;
const SKIPPED = new Set(['node_modules', 'build', 'dist']);

/** Calls `changed` once after each burst of changes to an app's sources. Returns the way to stop. */
export function watchSources(dir: string, changed: () => void): () => void {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;

  function soon(): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      follow(dir);
      changed();
    }, SETTLE_MS);
  }

  function follow(folder: string): void {
    if (!watchers.has(folder)) {
      const watcher = watch(folder, (_, name) => {
        if (name === null || SOURCES.test(name)) soon();
        else if (!name.includes('.')) follow(dir);
      });
      watcher.on('error', () => watchers.delete(folder));
      watchers.set(folder, watcher);
    }
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory() && !entry.name.startsWith('.') && !SKIPPED.has(entry.name))
        follow(join(folder, entry.name));
    }
  }

  follow(dir);
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers.values()) watcher.close();
  };
}
