import { GraphsteadError } from '../../base/index.js';
import { printChange } from '../../dql/index.js';
import type { Graph, GraphChange } from '../../graph/index.js';

/** Where an import goes: a data directory opened here, or a service over HTTP. */
export interface Target {
  lease(count: number): Promise<number>;
  write(changes: readonly GraphChange[]): Promise<void>;
  schema(lines: string): Promise<void>;
  graphql(text: string): Promise<void>;
}

const ATTEMPTS = 20;

/** Batches are blind writes of one process, so an abort only means that two of them met: the batch goes again. */
export function localTarget(graph: Graph, updateSchema: (text: string) => Promise<unknown>): Target {
  async function write(changes: readonly GraphChange[], attempt = 1): Promise<void> {
    const transaction = await graph.begin();
    try {
      await transaction.stage(changes);
      await transaction.commit();
    } catch (error) {
      transaction.abort();
      if (!(error instanceof GraphsteadError) || error.code !== 'TXN_ABORTED' || attempt >= ATTEMPTS) throw error;
      await write(changes, attempt + 1);
    }
  }
  return {
    lease: (count) => graph.leaseUids(count),
    write: (changes) => write(changes),
    schema: (text) => graph.alter({ kind: 'schema', text }),
    async graphql(text) {
      await updateSchema(text);
    },
  };
}

/** A running service. Uids come from it: blank nodes of a request that sets nothing else are leased there. */
export function remoteTarget(url: string, key: string | undefined): Target {
  const headers = key ? { authorization: `Bearer ${key}` } : undefined;
  async function send(path: string, body: string, type: string): Promise<Record<string, unknown>> {
    const response = await fetch(new URL(path, url), {
      method: 'POST',
      headers: { 'content-type': type, ...headers },
      body,
    });
    const answer = (await response.json()) as {
      errors?: { message: string; extensions?: { code?: string } }[];
      data?: Record<string, unknown>;
    };
    const error = answer.errors?.[0];
    if (error)
      throw new GraphsteadError(
        error.extensions?.code === 'TXN_ABORTED' ? 'TXN_ABORTED' : 'INVALID_REQUEST',
        `${url}: ${error.message}`,
      );
    return answer.data ?? {};
  }
  async function write(changes: readonly GraphChange[], attempt = 1): Promise<void> {
    try {
      await send('/mutate?commitNow=true', `{ set {\n${changes.map(printChange).join('\n')}\n} }`, 'application/rdf');
    } catch (error) {
      if (!(error instanceof GraphsteadError) || error.code !== 'TXN_ABORTED' || attempt >= ATTEMPTS) throw error;
      await write(changes, attempt + 1);
    }
  }
  return {
    async lease(count) {
      const data = await send(`/assign?what=uids&num=${count}`, '', 'text/plain');
      return Number(data['startId']);
    },
    write: (changes) => write(changes),
    async schema(lines) {
      await send('/alter', lines, 'text/plain');
    },
    async graphql(text) {
      await send('/admin/schema', text, 'text/plain');
    },
  };
}
