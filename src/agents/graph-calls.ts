import { parse } from 'graphql';
import { internal } from '../base/index.js';
import type { DqlEngine } from '../dql/index.js';
import type { Graph, Transaction } from '../graph/index.js';
import type {
  GraphCalls,
  GraphMutation,
  GraphMutated,
  GraphqlTerms,
  GraphSurface,
  GraphTransaction,
} from './contract.js';

/**
 * Runs a GraphQL request on the newest state or inside an open transaction; gives {data, errors} as JSON text.
 * Throws TXN_ABORTED when the transaction must begin anew.
 */
export type GraphqlCall = (
  text: string,
  variables: Readonly<Record<string, unknown>> | undefined,
  transaction: Transaction | undefined,
  terms: GraphqlTerms,
) => Promise<string>;

interface GraphCallsOptions {
  readonly graph: Graph;
  readonly dql: DqlEngine;
  readonly graphql?: GraphqlCall;
}

/** The graph as app code reaches it, made of the doors of graph and dql. */
export function graphCalls(options: GraphCallsOptions): GraphCalls {
  return { ...surface(options, undefined), begin: () => begin(options) };
}

async function begin(options: GraphCallsOptions): Promise<GraphTransaction> {
  const transaction = await options.graph.begin();
  return {
    ...surface(options, transaction),
    commit: (commit) => transaction.commit(commit),
    abort: () => transaction.abort(),
    holdReads: () => transaction.holdReads(),
    mark: () => transaction.mark(),
    keys: () => {
      const writes = transaction.conflicts;
      const own = [...writes, ...transaction.heldReads].flatMap(({ key, exclusive }) => (exclusive ? [key] : []));
      return { touches: writes.map(({ key }) => key), own };
    },
  };
}

function surface({ dql, graphql }: GraphCallsOptions, transaction: Transaction | undefined): GraphSurface {
  const place = transaction === undefined ? {} : { startTs: transaction.startTs, hash: transaction.hash };
  return {
    async query(text, variables) {
      const { data } = await dql.query({ text, variables, ...place });
      return data.toString('utf8');
    },
    async mutate({ body, contentType }: GraphMutation): Promise<GraphMutated> {
      const commitNow = transaction === undefined;
      const { uids, queries } = await dql.mutate({ body, contentType, commitNow, ...place });
      return {
        uids: Object.fromEntries(uids),
        ...(queries === undefined ? {} : { queries: queries.toString('utf8') }),
      };
    },
    async graphql(text, variables, terms = {}) {
      if (graphql === undefined) throw internal('the agents were given no GraphQL API');
      return graphql(text, variables, transaction, terms);
    },
  };
}

/** A text that does not parse is no mutation: running it says what is wrong with it. */
export function isMutation(text: string): boolean {
  try {
    const { definitions } = parse(text, { noLocation: true });
    return definitions.some((one) => one.kind === 'OperationDefinition' && one.operation === 'mutation');
  } catch {
    return false;
  }
}
