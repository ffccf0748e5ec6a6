import type * as Dgraph from 'dgraph-js';
import type { MutationPart, MutationParts } from '../../dql/index.js';
import { utf8Text } from '../body.js';
import { printNQuad } from './nquad.js';

/** What a request changes; statements that came as messages join the N-Quads. */
export function mutationParts(request: Dgraph.Request): MutationParts {
  return { query: request.getQuery(), mutations: request.getMutationsList().map(partOf) };
}

function partOf(mutation: Dgraph.Mutation): MutationPart {
  return {
    setNquads: joined(utf8Text(mutation.getSetNquads_asU8(), 'set_nquads'), mutation.getSetList()),
    deleteNquads: joined(utf8Text(mutation.getDelNquads_asU8(), 'del_nquads'), mutation.getDelList()),
    setJson: utf8Text(mutation.getSetJson_asU8(), 'set_json'),
    deleteJson: utf8Text(mutation.getDeleteJson_asU8(), 'delete_json'),
    condition: mutation.getCond(),
  };
}

function joined(text: string, messages: readonly Dgraph.NQuad[]): string {
  return messages.length === 0 ? text : `${text}\n${messages.map(printNQuad).join('\n')}`;
}
