/**
 * The reserved names. The stored and default spelling is `service.*`; `--compat dgraph` translates at the edge
 * (texts coming in, keys going out), so that a data directory opens either way.
 */
const RESERVED: readonly (readonly [stored: string, dgraph: string])[] = [
  ['service.type', 'dgraph.type'],
  ['service.graphql.schema', 'dgraph.graphql.schema'],
  ['service.graphql.xid', 'dgraph.graphql.xid'],
  ['service.drop.op', 'dgraph.drop.op'],
  ['service.graphql', 'dgraph.graphql'],
  ['service.namespace', 'dgraph.namespace'],
];

export const TYPE_PREDICATE = 'service.type';

export interface Names {
  /** true under `--compat dgraph` */
  readonly dgraph: boolean;
  /** A predicate or type name as a client writes it -> as it is stored. */
  stored(name: string): string;
  /** A stored name -> as the client sees it. */
  shown(name: string): string;
  /** A text for the client, the stored names in it as the client writes them. */
  told(text: string): string;
}

const toStored = new Map(RESERVED.map(([stored, dgraph]) => [dgraph, stored]));
const toDgraph = new Map(RESERVED);

const STORED_IN_TEXT = /(?<![\w.])service\.[a-z]+(?:\.[a-z]+)?(?!\w)/g;

export const defaultNames: Names = {
  dgraph: false,
  stored: (name) => name,
  shown: (name) => name,
  told: (text) => text,
};
export const dgraphNames: Names = {
  dgraph: true,
  stored: (name) => toStored.get(name) ?? name,
  shown: (name) => toDgraph.get(name) ?? name,
  told: (text) => text.replace(STORED_IN_TEXT, (name) => toDgraph.get(name) ?? name),
};
