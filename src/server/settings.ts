import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';
import {
  type Clock,
  defaultNames,
  dgraphNames,
  type Environment,
  GraphsteadError,
  type Limits,
  makeLimits,
  type Names,
  sourceStack,
  systemClock,
} from '../base/index.js';
import { readAppConfig } from './app-host.js';
import { type Access, assertClosed } from './authenticate.js';
import { withBodyRoom } from './body-room.js';
import { serviceAddress } from './forward/index.js';
import { ownNames } from './host-name.js';
import { ApiKeys } from './keys.js';
import { LogLines } from './log-lines.js';
import { readableLog } from './readable-log.js';
import type { ServiceOptions } from './service-options.js';
import { strayVariables } from './variables.js';

/** What a start goes by, out of its options, app.json and the environment. */
export interface Settings {
  readonly host: string;
  readonly environment: Environment;
  readonly version: string;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly names: Names;
  readonly log: Logger;
  readonly keys: ApiKeys;
  readonly access: Access;
  /** addresses of the service that writes, where this one only reads */
  readonly writer?: string;
  readonly writerGrpc?: URL;
  readonly warnings: readonly string[];
}

/** Before anything is opened or written: a start that is refused leaves no trace. Throws CONFIG. */
export function settingsOf(options: ServiceOptions): Settings {
  const { host = '127.0.0.1', environment = {}, version = '0.0.0', clock = systemClock } = options;
  const limits = serviceLimits(options, environment);
  const keys = ApiKeys.of(environment);
  const access = { host, keys, names: ownNames(environment['GRAPHSTEAD_HOST_NAMES'], host) };
  assertClosed(access, environment);
  if (options.readOnly) assertReadable(options);
  return {
    ...{ host, environment, version, clock, limits, keys, access },
    names: options.compat === 'dgraph' ? dgraphNames : defaultNames,
    log: openLog(options),
    writer: writerOf(options, environment),
    writerGrpc: writerGrpcOf(options, environment),
    warnings: strayVariables(environment).map(
      (name) => `${name} is no variable of the service, and does nothing (deployment.md lists them)`,
    ),
  };
}

function openLog({ readable, logLevel = 'warn' }: ServiceOptions): Logger {
  const lost = (lines: number, err: unknown) =>
    log.warn({ lines, err }, 'lines of the log are missing before this one');
  const lines: DestinationStream = readable ? readableLog(process.stdout) : new LogLines(1, lost);
  const log = pino({ level: logLevel, serializers: { err: loggedError } }, lines);
  return log;
}

/** An error as the log has it: its stack names the sources. */
function loggedError(error: Error): unknown {
  const logged = stdSerializers.err(error);
  return logged.stack === undefined ? logged : { ...logged, stack: sourceStack(logged.stack) };
}

/** Explicit values, then app.json's, then the environment's, then defaults. Throws CONFIG on an unknown name. */
function serviceLimits({ appDir, limits }: ServiceOptions, environment: Environment): Limits {
  const configured = appDir ? readAppConfig(appDir).limits : {};
  const isSet = limits?.largeBodiesBytes !== undefined || configured.largeBodiesBytes !== undefined;
  const made = makeLimits({ ...configured, ...limits }, environment);
  return withBodyRoom(made, isSet || environment['GRAPHSTEAD_LIMIT_LARGE_BODIES_BYTES'] !== undefined);
}

/** Turns of agents and writes of functions are the business of the service that writes. Throws CONFIG. */
function assertReadable({ data, store, appDir }: ServiceOptions): void {
  if (appDir !== undefined) {
    throw new GraphsteadError('CONFIG', 'a service that only reads runs no code of an app', {
      fix: 'leave APP_DIR out: it serves data and types; functions and agents answer at the service that writes',
    });
  }
  if (data !== undefined || store !== undefined) return;
  throw new GraphsteadError('CONFIG', 'a store in memory has nobody else who writes it', {
    fix: 'name the data directory or the database of the service that writes',
  });
}

/** Where a service that only reads sends what it does not answer. Throws CONFIG. */
function writerOf({ readOnly, writer }: ServiceOptions, { GRAPHSTEAD_WRITER: set }: Environment): string | undefined {
  return ofReader(readOnly, writer ?? (set || undefined), '--writer and GRAPHSTEAD_WRITER');
}

/** The same over gRPC. Throws CONFIG. */
function writerGrpcOf(
  { readOnly, writerGrpc }: ServiceOptions,
  { GRAPHSTEAD_WRITER_GRPC: set }: Environment,
): URL | undefined {
  const given = ofReader(readOnly, writerGrpc ?? (set || undefined), '--writer-grpc and GRAPHSTEAD_WRITER_GRPC');
  return given === undefined ? undefined : serviceAddress(given, 9080);
}

/** Throws CONFIG where a service that writes is given another one. */
function ofReader(readOnly: boolean | undefined, given: string | undefined, names: string): string | undefined {
  if (given === undefined || readOnly) return given;
  throw new GraphsteadError('CONFIG', 'this service writes by itself, and is told of another one that does', {
    fix: `leave ${names} out, or start it with --read-only`,
  });
}
