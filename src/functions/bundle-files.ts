import { randomBytes } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { namedIn, nameOfThis, textOf } from '../base/index.js';

const NAME = /^app-(\w+)[-.]/;

/**
 * The bundles of one loaded app, in a folder that other processes load from too: app-<run>-<n>.mjs with its source map, and
 * app-<run>.json, which names the process. A host that dies is followed by one that loads the same file, however old it
 * is: so only what no living process runs is taken away.
 */
export class BundleFiles {
  readonly #dir: string;
  readonly #run = randomBytes(6).toString('hex');
  readonly #pending: string;
  readonly #kept = new Set<string>();
  #made = 0;
  #running: string | undefined;

  constructor(dir: string) {
    this.#dir = dir;
    this.#pending = this.#path(0);
  }

  /** Where the next bundle is to be written: always the same. */
  begin(): string {
    mkdirSync(this.#dir, { recursive: true });
    this.#sweep();
    const written = join(this.#dir, `owner-${this.#run}`);
    writeFileSync(written, nameOfThis());
    renameSync(written, this.#owner(this.#run)); // who sweeps at this moment would take half a name for none
    return this.#pending;
  }

  /** Gives what was written a name of its own. */
  keep(): string {
    const path = this.#path(++this.#made);
    const text = readFileSync(this.#pending, 'utf8');
    writeFileSync(path, text.replace(/\/\/# sourceMappingURL=.*\n?$/, `//# sourceMappingURL=${basename(path)}.map\n`));
    if (existsSync(`${this.#pending}.map`)) copyFileSync(`${this.#pending}.map`, `${path}.map`);
    remove(this.#pending);
    this.#kept.add(path);
    return path;
  }

  /** Hosts run it now; those that ran the one before may still end. */
  took(path: string): void {
    for (const old of this.#kept) {
      if (old === path || old === this.#running) continue;
      remove(old);
      this.#kept.delete(old);
    }
    this.#running = path;
  }

  /** Leaves the files to whoever loads next. */
  close(): void {
    rmSync(this.#owner(this.#run), { force: true });
  }

  #sweep(): void {
    for (const name of readdirSync(this.#dir)) {
      const run = NAME.exec(name)?.[1];
      if (run !== undefined && !this.#isInUse(run)) rmSync(join(this.#dir, name), { force: true });
    }
  }

  /** One of another machine or container cannot be asked. */
  #isInUse(run: string): boolean {
    const owner = namedIn(textOf(this.#owner(run)));
    return owner !== undefined && owner.lives !== false;
  }

  #owner(run: string): string {
    return join(this.#dir, `app-${run}.json`);
  }

  #path(n: number): string {
    return join(this.#dir, `app-${this.#run}-${n}.mjs`);
  }
}

function remove(path: string): void {
  for (const file of [path, `${path}.map`]) rmSync(file, { force: true });
}
