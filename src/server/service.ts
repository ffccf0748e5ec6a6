import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { type Agents, agentsApplier, createAgents, createHosts, eventOperation, type Hosts } from '../agents/index.js';
import { createApi } from '../api/index.js';
import { defaultNames, dgraphNames, type Limits, makeLimits, type Names, systemClock } from '../base/index.js';
import { createCommitter } from '../commit/index.js';
import { EMPTY_CONFIG, readConfig, readEnvironment, resolveConnections } from '../connections/index.js';
import { createDqlEngine } from '../dql/index.js';
import { type App, loadApp } from '../functions/index.js';
import { createGraph, graphApplier } from '../graph/index.js';
import { createMemoryStore, openLmdbStore, type Store } from '../store/index.js';
import type { Core } from './core.js';
import { allowOrigins } from './cors.js';
import { graphCalls } from './graph-calls.js';
import { type GrpcServer, openGrpc } from './grpc.js';
import { createHttp } from './http.js';
import { ApiKeys } from './keys.js';
import { adminRoutes } from './route/admin.js';
import { graphLanguageRoutes } from './route/graph-language.js';
import { graphqlRoutes } from './route/graphql.js';
import { healthRoutes } from './route/health.js';
import { responseSignal } from './signal.js';

export interface ServiceOptions {
  /** data directory; undefined keeps everything in memory */
  readonly data?: string;
  readonly host?: string;
  /** 0 takes any free one */
  readonly port?: number;
  /** undefined serves no gRPC */
  readonly grpcPort?: number;
  readonly compat?: 'dgraph';
  readonly explorer?: boolean;
  /** folder with app.json; undefined serves store and API alone */
  readonly appDir?: string;
  /** reload on change; env files are read; stacks reach `extensions` */
  readonly dev?: boolean;
  readonly limits?: Partial<Record<keyof Limits, number>>;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly logLevel?: string;
  readonly version?: string;
}

export interface Service {
  readonly url: string;
  readonly grpcPort?: number;
  readonly core: Core;
  readonly agents: Agents;
  readonly app?: App;
  /** things that are worth a line at start: a busy gRPC port, connections left out */
  readonly warnings: readonly string[];
  close(): Promise<void>;
}

/** Opens the store, wires the rooms and listens. Throws GraphsteadError(s); nothing stays open then. */
export async function openService(options: ServiceOptions): Promise<Service> {
  const opened: (() => Promise<unknown> | unknown)[] = [];
  const closeAll = async () => {
    for (const close of opened.splice(0).reverse()) await close();
  };
  try {
    return await open(options, opened, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}
