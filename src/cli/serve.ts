import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isatty } from 'node:tty';
import { GraphsteadError } from '../base/index.js';
import { isBuilt } from '../functions/index.js';
import { logLevel, openService, type Service } from '../server/index.js';
import { Announcer } from './announce.js';
import { dataFolder } from './app-dir.js';
import { CRASHED, exitCodeOf } from './exit-code.js';
import { openMended } from './open-mended.js';
import { report } from './report.js';
import { shownAddress, storeAddress } from './store-address.js';
import { tellTypeErrors } from './type-errors.js';
import { version } from './version.js';

interface ServeOptions {
  readonly mode: 'dev' | 'start';
  readonly appDir?: string;
  readonly data?: string;
  readonly store?: string;
  readonly readOnly?: boolean;
  readonly writer?: string;
  readonly writerGrpc?: string;
  readonly host: string;
  readonly port: number;
  readonly grpcPort: number;
  readonly compat?: 'dgraph';
  readonly explorer: boolean;
  readonly json?: boolean;
  /** both or none */
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

/** Serves until SIGINT, SIGTERM or the end of its terminal; a second signal ends at once. See exit-code.ts for how it ends when it cannot start. */
export async function serve(options: ServeOptions): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', untold);
  let service: Service;
  let fenced = (_error: GraphsteadError): void => undefined;
  let appDir: string | undefined;
  let data: string;
  let store: string | undefined;
  const replaced = new Promise<GraphsteadError>((tell) => {
    fenced = tell;
  });
  const { tlsCert: cert, tlsKey: key } = options;
  try {
    // beside the service that runs the app in this folder: its data, and no code
    appDir = options.readOnly && options.appDir === undefined ? undefined : appFolder(options.appDir);
    data = dataFolder(options.data, appDir);
    store = storeAddress(options.store);
    const settings = {
      ...options,
      ...(cert !== undefined && key !== undefined ? { tls: { cert, key } } : {}),
      data,
      store,
      appDir,
      dev: options.mode === 'dev',
      environment: process.env,
      logLevel: logLevel(process.env) ?? 'info',
      readable: options.mode === 'dev' && !options.json,
      version: version(),
      fenced,
      shutdown: () => void process.emit('SIGTERM', 'SIGTERM'),
    };
    const open = () => openService(settings);
    const isLookedAt = settings.readable && process.stdout.isTTY;
    service = isLookedAt && appDir !== undefined ? await openMended(appDir, open, untilMended) : await open();
  } catch (error) {
    report(error, options.json ?? false);
    process.exit(exitCodeOf(error));
  }
  stopOnSignals(service, replaced);
  endOnCrash();
  const place = store === undefined ? data : shownAddress(store);
  const announcer = new Announcer(service, { ...options, appDir, data: place });
  announcer.ready();
  service.host?.onReloaded((reloaded) => announcer.reloaded(reloaded));
  if (options.mode === 'dev' && service.host !== undefined) tellTypeErrors(service.host.app, options.json ?? false);
}

/** Where what it says cannot be written, on a full disk, say, nobody can be told; it serves all the same. */
function untold(): void {}

/** Without a terminal whoever started it is to know that it does not run. */
function untilMended(error: unknown): void {
  report(error, false);
  console.error('\ntried again with the next edit; Ctrl-C ends');
}

/** A folder that is not there is a slip of the pen: nothing is made of it. */
function appFolder(given: string | undefined): string | undefined {
  const here = process.cwd();
  // an app without app.json is built without one
  if (given === undefined) return existsSync(join(here, 'app.json')) || isBuilt(here) ? here : undefined;
  const folder = resolve(given);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    // one that may not be looked into would be taken for an app without code
    accessSync(folder, constants.R_OK | constants.X_OK);
    return folder;
  }
  throw new GraphsteadError('NOT_FOUND', `${folder} is no folder`, {
    fix: 'name the folder of an app, or make one: graphstead new my-app',
  });
}

/** Ends by itself where another process has taken over the database: whoever supervises it may start it again, to wait for its turn. */
function stopOnSignals(service: Service, replaced: Promise<GraphsteadError>): void {
  let stopping = false;
  void replaced.then((error) => {
    const end = () => process.exit(exitCodeOf(error));
    // what agents and functions are at can no longer be committed
    setTimeout(end, service.core.limits.shutdownMs).unref();
    if (stopping) return;
    stopping = true;
    service.close().then(end, end);
  });
  const stop = (end: () => void) => {
    stopping = true;
    service.close().then(end, () => process.exit(1));
  };
  const stopOrEnd = () => (stopping ? process.exit(130) : stop(() => process.exit(0)));
  process.on('SIGINT', stopOrEnd);
  process.on('SIGTERM', stopOrEnd);
  // Where there was no terminal none has gone: under nohup, whose wish Node.js forgets, or where a reload is meant.
  const terminal = [0, 1, 2].some((stream) => isatty(stream));
  process.on('SIGHUP', () => {
    // the kernel and the shell may both send it
    if (terminal && !stopping) stop(endByHangup);
  });
}

/** A start that is refused ends with 1, and starting again would not help; where a service that ran has crashed, it does. */
function endOnCrash(): void {
  process.on('uncaughtException', (error) => {
    report(error, false); // as JSON it would have no stack
    process.exit(CRASHED);
  });
}

/** Node.js crashes at an exit of its own when its terminal has gone. */
function endByHangup(): void {
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
}
