import { decodeValue } from '../values/index.js';
import type { GraphChange } from './contract.js';
import { type ChangesPart, OP, payloadOf } from './delta.js';
import { decodeFacets } from './facet.js';

/** The changes of a committed part, in their order, as a client would write them: for streams and subscriptions. */
export function* changesOf(part: ChangesPart): Iterable<GraphChange> {
  for (let i = 0; i < part.ops.length; i++) {
    const uid = part.uids[i];
    const predicate = part.names[part.predicates[i]];
    const lang = part.langs[part.langOf[i]];
    const { value, facets } = payloadOf(part, i);
    const withFacets = facets.length > 0 ? { facets: decodeFacets(facets) } : {};
    switch (part.ops[i]) {
      case OP.setValue:
        yield { op: 'setValue', uid, predicate, value: decodeValue(value), lang, ...withFacets };
        break;
      case OP.setEdge:
        yield { op: 'setEdge', uid, predicate, object: part.objects[i], ...withFacets };
        break;
      case OP.deleteValue:
        yield { op: 'deleteValue', uid, predicate, value: decodeValue(value), lang };
        break;
      case OP.deleteEdge:
        yield { op: 'deleteEdge', uid, predicate, object: part.objects[i] };
        break;
      case OP.deleteLang:
        yield { op: 'deleteLang', uid, predicate, lang };
        break;
      default:
        yield { op: 'deletePredicate', uid, predicate };
    }
  }
}
