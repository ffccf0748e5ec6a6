import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

/** An editor may write a file in parts; a change that comes later is another reload. */
const SETTLE_MS = 20;
const SOURCES = /(\.(ts|tsx|mts|js|mjs|json|jsonc)|^schema\.graphql|^\.env(\..+)?)$/;
const SKIPPED = new Set(['node_modules', 'build', 'dist']);

/**
 * Calls `changed` once after each burst of changes to an app's sources, with the time of the first on the clock of
 * `performance.now()`. Returns the way to stop.
 */
export function watchSources(dir: string, changed: (since: number) => void): () => void {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  let since: number | undefined;

  function soon(): void {
    clearTimeout(timer);
    const first = (since ??= performance.now());
    timer = setTimeout(() => {
      since = undefined;
      follow(dir);
      changed(first);
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
