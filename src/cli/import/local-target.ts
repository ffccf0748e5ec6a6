import { join } from 'node:path';
import { defaultNames, type Limits } from '../../base/index.js';
import { createDqlEngine } from '../../dql/index.js';
import type { Graph, GraphChange } from '../../graph/index.js';
import type { OpenData } from '../open-data.js';
import { again, type Language, type Target } from './target.js';

/** A graph of this process; with its directory, predicates that stand empty are filled in bulk. */
type LocalData = Pick<OpenData, 'graph' | 'api'> & Partial<Pick<OpenData, 'directory' | 'limits'>>;

/** Batches are blind writes of one process, so an abort only means that two of them met: the batch goes again. */
export function localTarget({ graph, api, directory, limits }: LocalData): Target {
  async function write(changes: readonly GraphChange[]): Promise<void> {
    const transaction = await graph.begin();
    try {
      await transaction.stage(changes);
      await transaction.commit();
    } catch (error) {
      transaction.abort();
      throw error;
    }
  }

  async function refused(changes: readonly GraphChange[]): Promise<number | undefined> {
    const transaction = await graph.begin();
    try {
      for (const [index, change] of changes.entries()) {
        const isGood = await transaction.stage([change]).then(
          () => true,
          () => false,
        );
        if (!isGood) return index;
      }
      return undefined;
    } finally {
      transaction.abort();
    }
  }

  return {
    lease: (count) => graph.leaseUids(count),
    ...(directory === undefined
      ? {}
      : { bulk: () => graph.bulk({ folder: join(directory, 'import', 'runs'), growLists: true }) }),
    write: (changes) => again(['TXN_ABORTED'], () => write(changes)),
    refused,
    language: async () => language(graph, limits),
    async declared() {
      if (api.stored() === undefined) return undefined;
      const { predicates, types } = graph.schema();
      return { predicates: namesOf(predicates), types: namesOf(types) };
    },
    schema: (text) => graph.alter({ kind: 'schema', text }),
    async graphql(text) {
      await api.updateSchema(text);
    },
  };
}

function language(graph: Graph, limits: Limits | undefined): Language {
  const engine = createDqlEngine({ graph, names: defaultNames, limits });
  return {
    names: defaultNames,
    async query(text) {
      const { data, txn } = await engine.query({ text });
      return { data: JSON.parse(data.toString()) as Record<string, unknown>, txn };
    },
    async write(changes, { startTs, hash }) {
      const transaction = graph.open(startTs, hash);
      await transaction.stage(changes);
      await transaction.commit();
    },
    async abort({ startTs, hash }) {
      graph.open(startTs, hash).abort();
    },
  };
}

const namesOf = (all: readonly { readonly name: string }[]): ReadonlySet<string> =>
  new Set(all.map(({ name }) => name));
