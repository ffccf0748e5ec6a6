import { query } from './run';

export interface Predicate {
  readonly predicate: string;
  readonly type: string;
  readonly index?: boolean;
  readonly tokenizer?: readonly string[];
  readonly reverse?: boolean;
  readonly count?: boolean;
  readonly list?: boolean;
  readonly upsert?: boolean;
  readonly unique?: boolean;
  readonly lang?: boolean;
}

export interface StoredType {
  readonly name: string;
  readonly fields?: readonly { readonly name: string }[];
}

export interface GraphSchema {
  readonly predicates: readonly Predicate[];
  readonly types: readonly StoredType[];
}

export const NO_SCHEMA: GraphSchema = { predicates: [], types: [] };

/** Predicates and types as `schema {}` tells them, without the service's own. */
export async function readSchema(): Promise<GraphSchema> {
  const { data } = await query('schema {}');
  const { schema = [], types = [] } = data as { schema?: Predicate[]; types?: StoredType[] };
  return {
    predicates: [...schema].sort((a, b) => a.predicate.localeCompare(b.predicate)),
    types: types.filter(({ name }) => !isReserved(name)).sort((a, b) => a.name.localeCompare(b.name)),
  };
}

export function isReserved(name: string): boolean {
  return name.startsWith('service.') || name.startsWith('dgraph.');
}

/** A predicate as it is written in a query: angle brackets where the name needs them. */
export function written(predicate: string): string {
  return /^~?[A-Za-z_][\w.]*$/.test(predicate) ? predicate : `<${predicate}>`;
}

/** Predicates whose value says what a node is, best first. */
export function labelPredicates({ predicates }: GraphSchema): string[] {
  const ranks = ['name', 'title', 'label', 'username', 'email', 'key', 'code', 'xid', 'id'];
  const rank = (name: string) => ranks.indexOf(name.slice(name.lastIndexOf('.') + 1).toLowerCase());
  return predicates
    .filter(({ predicate, type }) => type === 'string' && !isReserved(predicate) && rank(predicate) >= 0)
    .map(({ predicate }) => predicate)
    .sort((a, b) => rank(a) - rank(b));
}
