import { internal } from '../base/index.js';
import type { GraphMutation, GraphqlTerms, GraphSurface } from './contract.js';
import type { Rpc } from './protocol.js';

/** Where a graph call names no transaction. */
export const OUTSIDE = 0;

/**
 * Answers one graph call of app code on a surface. Its first argument names a transaction, for callers that keep several.
 * @param terms of the function or the handler that asks; its caller counts where the call says so
 */
export async function answerGraph(surface: GraphSurface, rpc: Rpc, terms: GraphqlTerms = {}): Promise<unknown> {
  const [, first, second, as] = rpc.args;
  switch (rpc.method) {
    case 'graph.query':
      return surface.query(String(first), variablesOf(second) as Readonly<Record<string, string>> | undefined);
    case 'graph.mutate':
      return surface.mutate(first as GraphMutation);
    case 'graph.graphql':
      return surface.graphql(
        String(first),
        variablesOf(second),
        as === 'caller' ? terms : { ...terms, caller: undefined },
      );
    default:
      throw internal(`${rpc.method} is not answered here`);
  }
}

/** They are null where another argument stands behind none, or where app code gives null for none. */
function variablesOf(given: unknown): Readonly<Record<string, unknown>> | undefined {
  return (given ?? undefined) as Readonly<Record<string, unknown>> | undefined;
}
