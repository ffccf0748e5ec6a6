import type { Reloaded, Service } from '../server/index.js';
import { unservedApp } from './app-dir.js';
import { suggestions } from './suggestions.js';
import { version } from './version.js';

interface Announced {
  readonly host: string;
  readonly explorer: boolean;
  readonly json?: boolean;
  readonly data: string;
  readonly readOnly?: boolean;
  readonly appDir?: string;
}

/** What `dev` and `start` say while they serve; JSON lines with --json. */
export class Announcer {
  /** the calls that stand on the screen */
  #tries: readonly string[] = [];

  constructor(
    readonly service: Service,
    readonly options: Announced,
  ) {}

  /** Where a service that has started answers, and what to ask it. */
  ready(): void {
    const { service, options } = this;
    const unserved = options.appDir === undefined && !options.readOnly ? unservedApp(process.cwd()) : [];
    const warnings = [...service.warnings, ...unserved];
    if (options.json) {
      const { url, grpcPort = null } = service;
      const told = warnings.length === 0 ? {} : { warnings };
      console.log(JSON.stringify({ url, grpcPort, data: options.data, pid: process.pid, ...told }));
      return;
    }
    console.log(`graphstead ${version()} is ready\n`);
    for (const [name, value] of facts(service, options)) console.log(`  ${name.padEnd(12)}${value}`);
    for (const warning of warnings) console.log(`  ! ${warning}`);
    this.#suggest(suggestions(service, options));
    console.log('\nCtrl-C stops it.');
  }

  /** What a save did: how long it took, and what clients see differently. */
  reloaded({ ms, changes }: Reloaded): void {
    const whole = Math.round(ms);
    if (this.options.json) {
      console.log(JSON.stringify({ reloaded: { ms: whole, changes } }));
      return;
    }
    if (changes.length === 0) console.log(`reloaded in ${whole} ms, the schema is the same`);
    else console.log([`reloaded in ${whole} ms`, ...changes.map((line) => `  ${line}`)].join('\n'));
    const tries = suggestions(this.service, this.options);
    if (tries.join() === this.#tries.join()) return;
    this.#suggest(tries);
    if (tries.length === 0) console.log('the calls of queries/ do not fit the schema any more');
  }

  #suggest(tries: readonly string[]): void {
    this.#tries = tries;
    if (tries.length > 0) console.log(`\nTry\n${tries.map((line) => `  ${line}`).join('\n')}`);
  }
}

function* facts(service: Service, options: Announced): Iterable<readonly [string, string]> {
  yield ['GraphQL', `${service.url}/graphql`];
  if (options.explorer) yield ['Explorer', `${service.url}/explorer`];
  yield ['MCP', `${service.url}/mcp`];
  const isWriting = !options.readOnly || service.core.forwarder !== undefined;
  yield ['Graph', `${service.url}/query${isWriting ? '  /mutate  /alter' : ''}`];
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  if (service.grpcPort !== undefined) yield ['gRPC', `${host}:${service.grpcPort}`];
  if (service.core.forwarder) yield ['Sent on', `changes, functions and agents, to ${service.core.forwarder.address}`];
  yield ['Data', options.readOnly ? `${options.data} (read only)` : options.data];
  const types = typeNames(service.core.api.current()?.text ?? '');
  if (types.length > 0) yield ['Types', types.join(', ')];
}

function typeNames(text: string): string[] {
  return [...text.matchAll(/^\s*(?:type|interface)\s+(\w+)/gm)]
    .map((match) => match[1])
    .filter((name) => !/^(Query|Mutation)$/.test(name));
}
