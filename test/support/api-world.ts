import { expect } from 'vitest';
import { type Clock, defaultNames, type Limits, makeLimits, type Names, systemClock } from '../../src/base/index.js';
import { type Committer, createCommitter } from '../../src/commit/index.js';
import { createGraph, type Graph, graphApplier, graphShared } from '../../src/graph/index.js';
import { createMemoryStore, type Store } from '../../src/store/index.js';
import { type Api, createApi, type CustomLogic, type Operation, type RequestContext } from '../../src/api/index.js';

/** A graph in memory with the API over it. */
export interface World {
  readonly api: Api;
  readonly graph: Graph;
  readonly committer: Committer;
  /** `{data, errors}` of a request */
  ask(query: string, variables?: object, context?: Partial<RequestContext>): Promise<Answer>;
  /** the data; fails on errors */
  data(query: string, variables?: object, context?: Partial<RequestContext>): Promise<Data>;
}

export interface Answer {
  readonly data?: Data;
  readonly errors?: readonly { message: string; path?: (string | number)[]; extensions: { code: string } }[];
}
export type Data = Record<string, Tree>;
/** JSON that a test reaches into. */
export type Tree = TreeObject & readonly Tree[];
interface TreeObject {
  readonly [key: string]: Tree;
}

interface WorldOptions {
  readonly names?: Names;
  readonly clock?: Clock;
  readonly operations?: readonly Operation[];
  readonly custom?: CustomLogic;
  /** in memory unless given */
  readonly store?: Store;
  readonly limits?: Partial<Record<keyof Limits, number>>;
}

export function contextOf(context: Partial<RequestContext> = {}): RequestContext {
  return { requestId: 'r', headers: {}, signal: new AbortController().signal, extensions: {}, ...context };
}

export async function createWorld(sdl?: string, options: WorldOptions = {}): Promise<World> {
  const limits = makeLimits(options.limits);
  const { names = defaultNames, clock = systemClock, operations = [], custom, store = createMemoryStore() } = options;
  const shared = graphShared(limits);
  const committer = await createCommitter({ store, appliers: [graphApplier(shared)], clock, limits });
  const graph = await createGraph({ committer, shared, clock, names });
  const api = createApi({ graph, committer, names, clock, limits, ...(custom ? { custom } : {}) });
  await api.load();
  api.setOperations(operations);
  if (sdl) await api.updateSchema(sdl);
  const ask: World['ask'] = async (query, variables, context) => {
    const { body } = await api.execute({ query, variables: variables as Record<string, unknown> }, contextOf(context));
    return JSON.parse(body.toString('utf8')) as Answer;
  };
  const data: World['data'] = async (query, variables, context) => {
    const answer = await ask(query, variables, context);
    expect(answer.errors).toBeUndefined();
    return answer.data as Data;
  };
  return { api, graph, committer, ask, data };
}
