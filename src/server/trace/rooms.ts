import type { Api, GraphqlAnswer } from '../../api/index.js';
import type { Step, StepFacts, Trace } from '../../base/index.js';
import type { Committer } from '../../commit/index.js';
import type { DqlEngine, Latency } from '../../dql/index.js';
import type { HttpClient } from '../../outbound/index.js';

// What the rooms do, as steps. Without a trace each room is handed on as it is, and nothing stands between.

/** Commits; what a commit sets off later names it as its cause. */
export function tracedCommitter(committer: Committer, trace: Trace): Committer {
  if (!trace.on) return committer;
  // Listeners hear of a commit before its caller does, and what they begin has to find it.
  const steps = new WeakMap<object, Step>();
  committer.onCommit((records) => {
    for (const { commitTs, parts } of records) steps.get(parts)?.known(`commit:${commitTs}`);
  });
  return replacing(committer, {
    commit: (intent) =>
      trace.step('commit', {}, async (step) => {
        steps.set(intent.parts, step);
        const committed = await committer.commit(intent);
        step.tell({ 'graphstead.commit.ts': committed.commitTs });
        return committed;
      }),
  });
}

/** Queries and mutations of the graph language, each with what its time went into. */
export function tracedDql(dql: DqlEngine, trace: Trace): DqlEngine {
  if (!trace.on) return dql;
  const timed = <T extends { readonly latency: Latency }>(name: string, work: () => Promise<T>) =>
    trace.step(name, {}, async () => {
      const startedAt = Date.now();
      const answer = await work();
      tellLatency(trace, startedAt, answer.latency);
      return answer;
    });
  return replacing(dql, {
    query: (request) => timed('dql query', () => dql.query(request)),
    mutate: (request) => timed('dql mutate', () => dql.mutate(request)),
    commit: (startTs, hash) => trace.step('dql commit', {}, () => dql.commit(startTs, hash)),
  });
}

const NS_PER_MS = 1e6;

function tellLatency(trace: Trace, startedAt: number, latency: Latency): void {
  let at = startedAt;
  const parts: readonly [string, number][] = [
    ['parse', latency.parsing_ns],
    ['begin', latency.assign_timestamp_ns],
    ['run', latency.processing_ns],
    ['write', latency.encoding_ns],
  ];
  for (const [name, ns] of parts) {
    const ms = ns / NS_PER_MS;
    if (ns > 0) trace.ended(name, { startedAt: at, ms });
    at += ms;
  }
}

/** GraphQL requests; their names come from clients, so they are bounded. Subscriptions are their HTTP requests. */
export function tracedApi(api: Api, trace: Trace): Api {
  if (!trace.on) return api;
  return replacing(api, {
    execute: (request, context, options) => {
      const name = request.operationName;
      const facts: StepFacts = name ? { 'graphql.operation.name': name.slice(0, 100) } : {};
      return trace.step('graphql', { facts }, async (step) => {
        const answer = await api.execute(request, context, options);
        if (answer.kind) step.tell({ 'graphql.operation.type': answer.kind });
        if (isRefused(answer)) step.fail(String(answer.status));
        return answer;
      });
    },
  });
}

function isRefused({ kind, status }: GraphqlAnswer): boolean {
  return kind === undefined && status >= 400;
}

/**
 * Calls of custom logic: method and host, since paths are filled with values. A remote gets this step as its cause where
 * the types forward `traceparent` to it.
 */
export function tracedClient(client: HttpClient, trace: Trace): HttpClient {
  if (!trace.on) return client;
  return replacing(client, {
    send: (request) => {
      const { hostname } = new URL(request.url);
      const facts = { 'http.request.method': request.method, 'server.address': hostname };
      return trace.step(request.method, { kind: 'client', facts }, async (step) => {
        const forwards = Object.keys(request.headers).some((name) => name.toLowerCase() === 'traceparent');
        const headers = forwards ? { ...request.headers, ...trace.headers() } : request.headers;
        const reply = await client.send({ ...request, headers });
        step.tell({ 'http.response.status_code': reply.status });
        if (reply.status >= 400) step.fail(String(reply.status));
        return reply;
      });
    },
  });
}

/** The same room with some of its members replaced; the others are called on the room itself. */
function replacing<T extends object>(room: T, members: Partial<T>): T {
  return new Proxy(room, {
    get(target, name) {
      const own = (members as Record<PropertyKey, unknown>)[name];
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
