import { existsSync, type FSWatcher, readdirSync, watch } from 'node:fs';
import { join, sep } from 'node:path';
import { asError, codeOf } from '../base/index.js';

/** An editor may write a file in parts; a change that comes later is another reload. */
const SETTLE_MS = 20;
const SOURCES = /(\.(ts|tsx|mts|js|mjs|json|jsonc)|^schema\.graphql|^\.env(\..+)?)$/;
const SKIPPED = new Set(['node_modules', 'build', 'dist']);

/** What is watched. */
export interface SourceWatch {
  /** Watches these folders outside the app too, without those below them. */
  also(folders: readonly string[]): void;
  stop(): void;
}

/**
 * Calls `changed` once after each burst of changes to an app's sources, with the time of the first on the clock of
 * `performance.now()`; `tell` hears once of each folder below that cannot be watched. Throws where the app itself cannot be.
 */
export function watchSources(
  dir: string,
  changed: (since: number) => void,
  tell: (message: string) => void,
): SourceWatch {
  const folders = new Map<string, Watched>();
  const outside = new Map<string, FSWatcher>();
  /** folders that could not be watched, as was told */
  const unseen = new Set<string>();
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

  /** A folder that comes, goes or takes another's place brings or takes files that nothing else tells of. */
  function moved(path: string): void {
    const lost = forget(path);
    if (follow(dir) || lost) soon();
  }

  /** Whether sources lay in the folder, or below it. */
  function forget(path: string): boolean {
    const gone = [...folders].filter(([folder]) => folder === path || folder.startsWith(path + sep));
    for (const [folder, { watcher }] of gone) {
      watcher.close();
      folders.delete(folder);
    }
    return gone.some(([, { holdsSources }]) => holdsSources);
  }

  /** Watches the folder and those below. Whether one that was not watched before holds sources. */
  function follow(folder: string): boolean {
    try {
      const known = folders.get(folder);
      const watcher = known?.watcher ?? watchOne(folder);
      const entries = readdirSync(folder, { withFileTypes: true });
      const holdsSources = entries.some((entry) => !entry.isDirectory() && SOURCES.test(entry.name));
      folders.set(folder, { watcher, holdsSources });
      const below = entries.filter((entry) => entry.isDirectory() && holdsCode(entry.name));
      const found = below.map(({ name }) => follow(join(folder, name)));
      return found.includes(true) || (known === undefined && holdsSources);
    } catch (error) {
      // else it went while it was looked at
      if (codeOf(error) !== 'ENOENT') passOver(folder, error);
      return forget(folder);
    }
  }

  /** Data of another user in the app's folder, say, or the system watches no more: all else is followed. */
  function passOver(folder: string, error: unknown): void {
    if (folder === dir && folders.size === 0) throw error;
    if (unseen.has(folder)) return;
    unseen.add(folder);
    tell(`edits in ${folder} are not noticed: ${asError(error).message}`);
  }

  function watchOne(folder: string): FSWatcher {
    const watcher = watch(folder, (kind, name) => {
      if (name === null || SOURCES.test(name)) soon();
      else if (kind === 'rename' && holdsCode(name)) moved(join(folder, name));
    });
    watcher.on('error', () => forget(folder));
    folders.set(folder, { watcher, holdsSources: false });
    return watcher;
  }

  /** One whose folder went is made anew when the folder is back and the app loads. */
  function watchOutside(folder: string): void {
    try {
      const watcher = watch(folder, (_, name) => {
        if (!existsSync(folder)) leave(folder);
        if (name === null || SOURCES.test(name)) soon();
      });
      outside.set(
        folder,
        watcher.on('error', () => leave(folder)),
      );
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  function leave(folder: string): void {
    outside.get(folder)?.close();
    outside.delete(folder);
  }

  follow(dir);
  return {
    also(wanted) {
      for (const folder of [...outside.keys()].filter((one) => !wanted.includes(one))) leave(folder);
      for (const folder of wanted.filter((one) => !outside.has(one))) watchOutside(folder);
    },
    stop() {
      clearTimeout(timer);
      for (const watcher of [...[...folders.values()].map((one) => one.watcher), ...outside.values()]) watcher.close();
    },
  };
}

interface Watched {
  readonly watcher: FSWatcher;
  readonly holdsSources: boolean;
}

/** Whether a folder of an app, by its name, holds code of the app's. */
export function holdsCode(name: string): boolean {
  return !name.startsWith('.') && !SKIPPED.has(name);
}
