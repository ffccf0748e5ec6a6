import type { Position } from '../../base/index.js';
import type { Value } from '../../values/index.js';
import type { Filter, QueryDocument } from './query.js';

/** What a triple is about or points to. */
export type NodeReference =
  | { readonly kind: 'uid'; readonly uid: number }
  /** `_:name`, the name without `_:` */
  | { readonly kind: 'blank'; readonly name: string }
  /** `uid(v)`; `position` where it is not that of the triple */
  | { readonly kind: 'variable'; readonly name: string; readonly position?: Position }
  /** `<http://...>`: an id of another system; an import may map it, /mutate refuses it */
  | { readonly kind: 'iri'; readonly iri: string };

/** `*` as a subject can be read; only the pattern it makes is refused, with a code of its own. */
export type SubjectReference = NodeReference | { readonly kind: 'all' };

export type ObjectReference =
  | NodeReference
  | { readonly kind: 'literal'; readonly value: Value; readonly lang: string }
  /** `val(v)` */
  | { readonly kind: 'value'; readonly variable: string }
  /** `*` */
  | { readonly kind: 'all' };

/** One facet of a triple; its value is a string, int, float, bool or datetime. */
export interface TripleFacet {
  readonly key: string;
  readonly value: Value;
}

/** One RDF triple or one key of a JSON mutation; predicate is a stored name, "*" for all (deletes only). */
export interface Triple {
  readonly subject: SubjectReference;
  readonly predicate: string;
  /** the tag of `<predicate@lang>`: which language a delete with `*` means */
  readonly lang: string;
  readonly object: ObjectReference;
  readonly facets: readonly TripleFacet[];
  /** one of the members of a JSON list */
  readonly listed: boolean;
  /** what a key of JSON holds by itself, in no list; a statement of RDF says nothing of that */
  readonly alone: boolean;
  readonly position: Position;
}

export interface MutationBlock {
  readonly set: readonly Triple[];
  readonly delete: readonly Triple[];
  /** `@if(...)`: calls on `len(v)`, val comparisons */
  readonly condition?: Filter;
}

/** One request of /mutate: an upsert when it has a query. */
export interface MutationRequest {
  readonly query?: QueryDocument;
  readonly mutations: readonly MutationBlock[];
}
