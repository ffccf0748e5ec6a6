import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { HostApp } from '../agents/index.js';
import type { Operation } from '../api/index.js';
import { asError, codeOf, GraphsteadError, GraphsteadErrors } from '../base/index.js';
import { type AppSource, findSource, foldersOutside, hasSource, passedOver } from './app-source.js';
import { Bundler } from './bundle.js';
import { BundleFiles } from './bundle-files.js';
import { BUILT, type BuiltManifest, isBuilt, type Prepared, readBuilt, sha256Of } from './built-app.js';
import { checkTypes } from './check-types.js';
import type { App, AppManifest, CheckedTypes, LoadAppOptions } from './contract.js';
import { BESIDE_CODE, fileMistakes, typesText, withOthers } from './file-mistakes.js';
import { atImport } from './missing-package.js';
import { toOperations } from './operations.js';
import { ownNameMistakes } from './own-names.js';
import { type ReadApp, readCached } from './read-cached.js';
import { ReadingThread } from './reading-thread.js';
import { takenEitherWay, takenMistakes } from './taken.js';
import { unregistered } from './unregistered.js';
import { type SourceWatch, watchSources } from './watch.js';

const EMPTY: AppManifest = { format: 1, operations: [], types: [] };

/** Reads the operations of an app's functions, none of them named as what its types have, or throws GraphsteadErrors: APP_LOAD, SYNTAX, FUNCTION_TYPE. */
async function readOperations(appDir: string): Promise<AppManifest> {
  if (!hasSource(appDir)) return EMPTY;
  const thread = new ReadingThread();
  try {
    const read = (from: AppSource) => thread.read(from);
    const source = findSource(resolve(appDir));
    const manifest = assertNotOwn(await readCached(source, join(appDir, '.graphstead'), read), source);
    const errors = takenMistakes(manifest, takenEitherWay(typesText(appDir)));
    if (errors.length > 0) throw new GraphsteadErrors(errors);
    return manifest;
  } finally {
    await thread.close();
  }
}

/** Throws GraphsteadErrors: FUNCTION_TYPE. */
function assertNotOwn({ manifest, files }: ReadApp, source: AppSource): AppManifest {
  const errors = ownNameMistakes(manifest, source, files);
  if (errors.length > 0) throw new GraphsteadErrors(errors);
  return manifest;
}

// Node.js says ENOENT of a folder that it cannot make on a read-only volume
const NOT_WRITABLE: ReadonlySet<unknown> = new Set(['EROFS', 'EACCES', 'EPERM', 'ENOENT']);

function notWritable(cacheDir: string, cause: unknown): GraphsteadError {
  return new GraphsteadError('CONFIG', `what is compiled of the app cannot be written: ${asError(cause).message}`, {
    fix: `let this user write to ${cacheDir}; or build the app elsewhere, graphstead build <APP_DIR> --out <DIR>, and start <DIR>, which may be read-only`,
    cause,
  });
}

const HALF_BUILT = `${BUILT.bundle} is not served: ${BUILT.manifest} is missing beside it (copy the whole folder that build wrote)`;

interface Built {
  readonly manifest: AppManifest;
  /** why types were not checked, and which code was passed over */
  readonly warnings: readonly string[];
}

/** What is built stands apart from what it is built of: a folder that holds both would be served as it was built. */
function assertApart(dir: string, outDir: string): void {
  if (isBuilt(dir)) {
    throw new GraphsteadError('CONFIG', `${dir} holds ${BUILT.manifest}: it was built already`, {
      fix: `name the folder with the app's source; if this is it, delete ${BUILT.manifest} and ${BUILT.bundle} there`,
    });
  }
  if (!isBuilt(outDir) && (hasSource(outDir) || BESIDE_CODE.some((name) => existsSync(join(outDir, name))))) {
    throw new GraphsteadError('CONFIG', `${resolve(outDir)} holds an app's source, which the build would write over`, {
      fix: 'give --out a folder of its own, or leave it out: build/ in the folder of the app',
    });
  }
}

/**
 * Writes an app so that it starts without esbuild and typescript: one bundle, its operations as JSON, app.json.
 * Throws CONFIG for folders that cannot be meant, and GraphsteadErrors with every mistake, type errors among them unless
 * `types` is false; nothing is written then.
 */
export async function buildApp(appDir: string, outDir: string, { types = true } = {}): Promise<Built> {
  const dir = resolve(appDir);
  assertApart(dir, outDir);
  const found = fileMistakes(dir); // before anything is under way
  const [manifest, checked] = await settle([readOperations(dir), types ? checkedTypes(dir) : { mistakes: [] }], found);
  mkdirSync(outDir, { recursive: true });
  const bundle = join(resolve(outDir), BUILT.bundle);
  let files: readonly string[] = [];
  const code = hasSource(dir);
  if (code) {
    const bundler = new Bundler();
    files = await bundler.bundle(findSource(dir), bundle).finally(() => bundler.close());
  } else {
    rmSync(bundle, { force: true });
  }
  const written: BuiltManifest = { ...manifest, code, ...(code ? { sha256: sha256Of(bundle) } : {}) };
  writeFileSync(join(outDir, BUILT.manifest), `${JSON.stringify(written, null, 1)}\n`);
  for (const name of BESIDE_CODE) {
    // what an earlier build wrote of a file that is gone would be served still
    if (existsSync(join(dir, name))) copyFileSync(join(dir, name), join(outDir, name));
    else rmSync(join(outDir, name), { force: true });
  }
  const unchecked = checked.unchecked === undefined ? [] : [`types were not checked: ${checked.unchecked}`];
  return { manifest, warnings: [...unchecked, ...passedOver(dir, files)] };
}

async function checkedTypes(dir: string): Promise<CheckedTypes> {
  if (!hasSource(dir)) return { mistakes: [] };
  const checked = await checkTypes(findSource(dir), { cacheDir: join(dir, '.graphstead') });
  if (checked.mistakes.length > 0) throw new GraphsteadErrors(checked.mistakes);
  return checked;
}

/** Every mistake that the files of an app tell without being loaded; the code of a built one was read when it was built. */
export async function appMistakes(appDir: string): Promise<readonly GraphsteadError[]> {
  const dir = resolve(appDir);
  const inCode = isBuilt(dir) ? [] : await readOperations(dir).then(() => [], mistakesOf);
  return [...fileMistakes(dir), ...inCode];
}

function mistakesOf(error: unknown): readonly GraphsteadError[] {
  return error instanceof GraphsteadErrors ? error.errors : [];
}

/** Loads an app into the hosts. Throws GraphsteadErrors with every mistake; then nothing was changed. */
export async function loadApp(options: LoadAppOptions): Promise<App> {
  const app = new LoadedApp(options);
  try {
    await app.reload();
  } catch (error) {
    await app.close();
    throw error;
  }
  if (options.dev) app.watch();
  else await app.freeCompilers();
  return app;
}

/** milliseconds that closing waits for a load under way */
const PATIENCE_MS = 1_000;

class LoadedApp implements App {
  readonly #options: LoadAppOptions;
  readonly #dir: string;
  readonly #cacheDir: string;
  readonly #listeners = new Set<(since: number) => void>();
  readonly #thread = new ReadingThread();
  readonly #bundler = new Bundler();
  readonly #files: BundleFiles;
  #operations: readonly Operation[] = [];
  #watch: SourceWatch | undefined;
  #outside: readonly string[] = [];
  /** files of the app's code, as they were read last; none of a built one */
  #bundled: readonly string[] = [];
  /** code that nobody reads, as it was told */
  #passedOver: readonly string[] = [];
  /** classes that are not registered, as it was told */
  #unregistered: readonly string[] = [];
  #loading: Promise<void> = Promise.resolve();
  /** of the load that was asked for last */
  #newest: AbortController | undefined;
  #closed = false;

  constructor(options: LoadAppOptions) {
    this.#options = options;
    this.#dir = resolve(options.appDir);
    this.#cacheDir = options.cacheDir ?? join(this.#dir, '.graphstead');
    this.#files = new BundleFiles(this.#cacheDir);
  }

  get operations(): readonly Operation[] {
    return this.#operations;
  }

  get agentTypes() {
    return this.#options.hosts.manifest?.agentTypes ?? [];
  }

  /**
   * One after the other. A load that another follows ends without a word unless its processes have taken over: it may
   * be waiting for what the change has mended.
   */
  reload(since = performance.now()): Promise<void> {
    this.#newest?.abort();
    const newest = new AbortController();
    this.#newest = newest;
    const next = this.#loading.then(() => this.#loadUnlessOvertaken(since, newest.signal));
    this.#loading = next.catch(() => undefined);
    return next;
  }

  async #loadUnlessOvertaken(since: number, overtaken: AbortSignal): Promise<void> {
    try {
      if (!overtaken.aborted && !this.#closed) await this.#load(since, overtaken);
    } catch (error) {
      if (!overtaken.aborted) throw error;
    }
  }

  async #load(since: number, overtaken: AbortSignal): Promise<void> {
    const { hosts, agents, scalars, dev, stacks = dev, log = () => undefined } = this.#options;
    if (existsSync(join(this.#dir, BUILT.bundle)) || hasSource(this.#dir)) hosts.prepare(this.#dir);
    const { manifest, bundle } = await this.#prepare();
    this.#assertFree(manifest);
    const operations = toOperations(manifest, { hosts, agents, scalars, stacks, log });
    const connections = this.#options.connections?.();
    if (bundle !== undefined) {
      const app: HostApp = { bundle, appDir: this.#dir, connections, stacks };
      await this.#swap(app, overtaken).catch((error: unknown) => {
        if (!(error instanceof GraphsteadError)) throw error;
        throw new GraphsteadErrors([atImport(error, this.#dir, this.#bundled)]);
      });
      this.#files.took(bundle);
    }
    this.#operations = operations;
    this.#tellUnregistered(manifest);
    for (const listener of this.#listeners) listener(since);
  }

  /** What runs goes on while the new code loads, which may take its time, or never end. */
  async #swap(app: HostApp, overtaken: AbortSignal): Promise<void> {
    const { hosts, agents } = this.#options;
    const staged = await hosts.stage(app, overtaken);
    try {
      await agents.swap(async () => staged.take());
    } catch (error) {
      staged.drop();
      throw error;
    }
  }

  async #prepare(): Promise<Prepared> {
    // neither esbuild nor typescript is loaded for it
    if (isBuilt(this.#dir)) return readBuilt(this.#dir);
    if (!hasSource(this.#dir)) {
      this.#tellPassedOver([]);
      if (existsSync(join(this.#dir, BUILT.bundle))) this.#options.log?.({ level: 'warn', message: HALF_BUILT });
      return { manifest: EMPTY, bundle: this.#nothing() };
    }
    const source = findSource(this.#dir);
    const pending = this.#begin(); // before anything is under way that would be left alone
    const reading = readCached(source, this.#cacheDir, (from) => this.#thread.read(from));
    const bundling = this.#bundler.bundle(source, pending);
    const [read, files] = await settle([reading, bundling]);
    this.#bundled = files;
    this.#outside = foldersOutside(this.#dir, [...files, ...read.files]);
    this.#watch?.also(this.#outside);
    this.#tellPassedOver(files);
    return { manifest: assertNotOwn(read, source), bundle: this.#files.keep() };
  }

  #tellPassedOver(files: readonly string[]): void {
    const now = passedOver(this.#dir, files);
    for (const message of now.filter((one) => !this.#passedOver.includes(one))) {
      this.#options.log?.({ level: 'warn', message });
    }
    this.#passedOver = now;
  }

  #tellUnregistered(manifest: AppManifest): void {
    const now = unregistered(
      manifest,
      this.agentTypes.map(({ name }) => name),
    );
    for (const message of now.filter((one) => !this.#unregistered.includes(one))) {
      this.#options.log?.({ level: 'warn', message });
    }
    this.#unregistered = now;
  }

  /** Hosts that have loaded code go on with it until they load other code, if only an empty one. */
  #nothing(): string | undefined {
    if (this.#options.hosts.manifest === undefined) return undefined;
    writeFileSync(this.#begin(), 'export default {};\n');
    return this.#files.keep();
  }

  #begin(): string {
    try {
      return this.#files.begin();
    } catch (error) {
      throw NOT_WRITABLE.has(codeOf(error)) ? notWritable(this.#cacheDir, error) : error;
    }
  }

  #assertFree(manifest: AppManifest): void {
    const taken = this.#options.taken?.();
    const errors = taken === undefined ? [] : takenMistakes(manifest, taken);
    if (errors.length > 0) throw new GraphsteadErrors(errors);
  }

  watch(): void {
    const log = this.#options.log ?? (() => undefined);
    const reload = (since: number) => {
      this.reload(since).then(
        () => log({ level: 'debug', message: 'the app was reloaded' }),
        (error: unknown) =>
          log({ level: 'error', message: `the app was not reloaded: ${textOf(this.#withFiles(error))}` }),
      );
    };
    this.#watch = watchSources(this.#dir, reload, (message) => log({ level: 'warn', message }));
    this.#watch.also(this.#outside);
  }

  /** Those of schema.graphql would only be told once the code is mended. */
  #withFiles(error: unknown): unknown {
    return error instanceof GraphsteadErrors ? withOthers(error, fileMistakes(this.#dir)) : error;
  }

  async checkTypes(): Promise<CheckedTypes | undefined> {
    this.#check?.abort();
    if (existsSync(join(this.#dir, BUILT.manifest)) || !hasSource(this.#dir)) return { mistakes: [] };
    const check = new AbortController();
    this.#check = check;
    const { signal } = check;
    try {
      return await checkTypes(findSource(this.#dir), { cacheDir: this.#cacheDir, background: true, signal });
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  }
  #check: AbortController | undefined;

  onReload(listener: (since: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    // what waits its turn would start the compilers again, which nobody would end
    this.#closed = true;
    this.#watch?.stop();
    this.#check?.abort();
    // code that does not come to an end while it loads is ended with its processes
    await Promise.race([this.#loading, pause(PATIENCE_MS, undefined, { ref: false })]);
    await this.freeCompilers();
    this.#files.close();
  }

  /** The next load starts them anew. */
  async freeCompilers(): Promise<void> {
    await Promise.all([this.#thread.close(), this.#bundler.close()]);
  }
}

function textOf(error: unknown): string {
  const errors = error instanceof GraphsteadErrors ? error.errors : [error];
  return errors.map((one) => describe(one)).join('\n');
}

function describe(error: unknown): string {
  if (!(error instanceof GraphsteadError)) return String(error);
  const { position, message, fix } = error;
  // what is found in app.json says its place by itself
  const told = position === undefined || (position.source !== undefined && message.startsWith(position.source));
  const place = told ? '' : `${position.source ?? ''}:${position.line}:${position.column} `;
  return `${place}${message}${fix === undefined ? '' : ` (${fix})`}`;
}

function placeOf({ position }: GraphsteadError): string {
  return `${position?.source}:${position?.line}:${position?.column}`;
}

/** Waits for all; what failed is told together, with mistakes that are known already. */
async function settle<A, B>(
  work: readonly [A | Promise<A>, B | Promise<B>],
  found: readonly GraphsteadError[] = [],
): Promise<[A, B]> {
  const [first, second] = await Promise.allSettled(work);
  if (first.status === 'fulfilled' && second.status === 'fulfilled') {
    if (found.length > 0) throw new GraphsteadErrors(found);
    return [first.value, second.value];
  }
  const reasons = [first, second].flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  const all = reasons.flatMap((reason): readonly unknown[] =>
    reason instanceof GraphsteadErrors ? reason.errors : [reason],
  );
  const known = all.filter((one) => one instanceof GraphsteadError);
  if (known.length === 0) throw reasons[0];
  // A file that does not parse is found by both: once is enough.
  const better = known.filter((one) => one.code !== 'APP_LOAD');
  const places = new Set(known.filter((one) => one.code === 'SYNTAX').map(placeOf));
  const told = (better.length > 0 ? better : known).filter((one) => one.code !== 'TYPE' || !places.has(placeOf(one)));
  throw new GraphsteadErrors([...found, ...told]);
}
