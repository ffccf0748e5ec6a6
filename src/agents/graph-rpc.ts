import { GraphsteadError } from '../base/index.js';
import type { GraphMutation, GraphSurface } from './contract.js';
import type { Rpc } from './protocol.js';

/** Where a graph call names no transaction. */
export const OUTSIDE = 0;

/** Answers one graph call of app code on a surface. Its first argument names a transaction, for callers that keep several. */
export async function answerGraph(surface: GraphSurface, rpc: Rpc): Promise<unknown> {
  const [, first, second] = rpc.args;
  switch (rpc.method) {
    case 'graph.query':
      return surface.query(String(first), second as Readonly<Record<string, string>> | undefined);
    case 'graph.mutate':
      return surface.mutate(first as GraphMutation);
    case 'graph.graphql':
      return surface.graphql(String(first), second as Readonly<Record<string, unknown>> | undefined);
    default:
      throw new GraphsteadError('INTERNAL', `${rpc.method} is not answered here`);
  }
}
