import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Reloaded, Service } from '../server/index.js';
import { version } from './version.js';

export interface Announced {
  readonly host: string;
  readonly explorer: boolean;
  readonly json?: boolean;
  readonly data: string;
  readonly appDir?: string;
}

/** Where a service that has started answers, and what to ask it; one JSON line with --json. */
export function announce(service: Service, options: Announced): void {
  if (options.json) {
    const { url, grpcPort = null } = service;
    console.log(JSON.stringify({ url, grpcPort, data: options.data, pid: process.pid }));
    return;
  }
  console.log(`graphstead ${version()} is ready\n`);
  for (const [name, value] of facts(service, options)) console.log(`  ${name.padEnd(12)}${value}`);
  for (const warning of service.warnings) console.log(`  ! ${warning}`);
  const tries = suggestions(service, options.appDir);
  if (tries.length > 0) console.log(`\nTry\n${tries.map((line) => `  ${line}`).join('\n')}`);
  console.log('\nCtrl-C stops it.');
}

/** What a save did: how long it took, and what clients see differently; one JSON line with --json. */
export function announceReload({ ms, changes }: Reloaded, json: boolean): void {
  const whole = Math.round(ms);
  if (json) console.log(JSON.stringify({ reloaded: { ms: whole, changes } }));
  else if (changes.length === 0) console.log(`reloaded in ${whole} ms, the schema is the same`);
  else console.log([`reloaded in ${whole} ms`, ...changes.map((line) => `  ${line}`)].join('\n'));
}

function* facts(service: Service, options: Announced): Iterable<readonly [string, string]> {
  yield ['GraphQL', `${service.url}/graphql`];
  if (options.explorer) yield ['Explorer', `${service.url}/explorer`];
  yield ['Graph', `${service.url}/query  /mutate  /alter`];
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  if (service.grpcPort !== undefined) yield ['gRPC', `${host}:${service.grpcPort}`];
  yield ['Data', options.data];
  const types = typeNames(service.core.api.current()?.text ?? '');
  if (types.length > 0) yield ['Types', types.join(', ')];
}

function typeNames(text: string): string[] {
  return [...text.matchAll(/^\s*(?:type|interface)\s+(\w+)/gm)]
    .map((match) => match[1])
    .filter((name) => !/^(Query|Mutation)$/.test(name));
}

/** Calls to copy: the app's own queries/ with their first comments, else one made from what is served. */
function suggestions({ url, core }: Service, appDir: string | undefined): string[] {
  const folder = appDir && join(appDir, 'queries');
  if (folder && existsSync(folder)) {
    const names = readdirSync(folder).filter((name) => name.endsWith('.graphql'));
    return names.sort().flatMap((name) => {
      const path = join(folder, name);
      const comment = /^#\s*(.*)/.exec(readFileSync(path, 'utf8'))?.[1];
      const call = `curl -s ${url}/graphql -H 'content-type: application/graphql' --data-binary @${relative('', path)}`;
      return comment ? [`# ${comment}`, call] : [call];
    });
  }
  if (core.api.current() === undefined) return [];
  return [
    `curl -s ${url}/graphql -H 'content-type: application/graphql' -d '{ __schema { queryType { fields { name } } } }'`,
  ];
}
