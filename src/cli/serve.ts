import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { GraphsteadError, GraphsteadErrors } from '../base/index.js';
import { openService, type Service } from '../server/index.js';
import { version } from './version.js';

export interface ServeOptions {
  readonly mode: 'dev' | 'start';
  readonly appDir?: string;
  readonly data?: string;
  readonly host: string;
  readonly port: number;
  readonly grpcPort: number;
  readonly compat?: 'dgraph';
  readonly explorer: boolean;
  readonly json?: boolean;
}

/** Serves until SIGINT or SIGTERM; a second signal ends at once. Exit code 1 when it cannot start. */
export async function serve(options: ServeOptions): Promise<void> {
  const appDir = appFolder(options.appDir);
  const data = resolve(options.data ?? join(appDir ?? process.cwd(), '.graphstead', 'data'));
  let service: Service;
  try {
    service = await openService({
      ...options,
      data,
      appDir,
      dev: options.mode === 'dev',
      environment: process.env,
      logLevel: process.env['GRAPHSTEAD_LOG'] ?? (options.mode === 'dev' ? 'warn' : 'info'),
      version: version(),
    });
  } catch (error) {
    report(error, options.json ?? false);
    process.exit(1);
  }
  stopOnSignals(service);
  announce(service, { ...options, appDir, data });
}

function appFolder(given: string | undefined): string | undefined {
  if (given !== undefined) return resolve(given);
  return existsSync(join(process.cwd(), 'app.json')) ? process.cwd() : undefined;
}

function stopOnSignals(service: Service): void {
  let stopping = false;
  const stop = () => {
    if (stopping) process.exit(130);
    stopping = true;
    service.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

function announce(service: Service, options: ServeOptions & { readonly data: string }): void {
  if (options.json) {
    console.log(
      JSON.stringify({ url: service.url, grpcPort: service.grpcPort ?? null, data: options.data, pid: process.pid }),
    );
    return;
  }
  const line = (name: string, value: string) => console.log(`  ${name.padEnd(12)}${value}`);
  console.log(`graphstead ${version()} is ready\n`);
  line('GraphQL', `${service.url}/graphql`);
  if (options.explorer) line('Explorer', `${service.url}/explorer`);
  line('Graph', `${service.url}/query  /mutate  /alter`);
  if (service.grpcPort !== undefined) line('gRPC', `${options.host}:${service.grpcPort}`);
  line('Data', options.data);
  const served = service.core.api.current();
  if (served) line('Types', typeNames(served.text).join(', '));
  for (const warning of service.warnings) console.log(`  ! ${warning}`);
  console.log('\nCtrl-C stops it.');
}

function typeNames(text: string): string[] {
  return [...text.matchAll(/^\s*(?:type|interface)\s+(\w+)/gm)]
    .map((match) => match[1])
    .filter((name) => !/^(Query|Mutation)$/.test(name));
}

/** Every mistake with its place and its fix, on standard error; JSON lines with --json. */
export function report(error: unknown, json: boolean): void {
  const errors = error instanceof GraphsteadErrors ? error.errors : [error];
  for (const one of errors) {
    if (!(one instanceof GraphsteadError)) {
      console.error(json ? JSON.stringify({ error: { code: 'INTERNAL', message: String(one) } }) : one);
      continue;
    }
    const { code, message, fix, position } = one;
    if (json) console.error(JSON.stringify({ error: { code, message, fix, position } }));
    else console.error(`${code}: ${message}${fix ? `\n  fix: ${fix}` : ''}`);
  }
}
