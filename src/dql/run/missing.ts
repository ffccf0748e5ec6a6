import { GraphsteadError, type Position } from '../../base/index.js';
import { type IndexSpec, type Predicate, printPredicate } from '../../graph/index.js';
import { type IndexKind, type TypeName, tokenizer } from '../../values/index.js';
import type { Execution } from './execution.js';

/** What a predicate lacks, as its schema line would have it. */
type Lacking = Partial<Pick<Predicate, 'indexes' | 'reverse' | 'count'>>;

/** What a query needs and the schema does not keep, with the line that adds it and leaves the rest as it is. */
export function missingIndex(
  message: string,
  predicate: Predicate,
  lacking: Lacking,
  position: Position,
  { names }: Execution,
): GraphsteadError {
  const line = printPredicate({ ...predicate, ...lacking }, names);
  return new GraphsteadError('MISSING_INDEX', message, { position, fix: `Add it to the schema: ${line}` });
}

/** The indexes of a predicate and one more. */
export const withIndex = ({ indexes }: Predicate, kind: IndexKind): readonly IndexSpec[] => [
  ...indexes,
  { kind, options: kind === 'hnsw' ? { metric: 'euclidean' } : {}, ready: false },
];

/** A predicate that no line declares, of the type that an index is for, or of edges. */
export function undeclared(name: string, kind?: IndexKind): Predicate {
  const type: TypeName = kind ? tokenizer(kind).types[0] : 'uid';
  const off = { reverse: false, count: false, lang: false, upsert: false, unique: false, noconflict: false };
  return { id: 0, name, type, list: kind === undefined, indexes: [], ...off };
}

/** Refuses `~p` where nothing can be followed backwards. Throws INVALID_QUERY, MISSING_INDEX. */
export function checkReverse(predicate: Predicate, position: Position, execution: Execution): void {
  const { name, type, reverse } = predicate;
  if (type !== 'uid') {
    throw new GraphsteadError('INVALID_QUERY', `~${name} leads nowhere: ${name} holds values, not edges`, {
      position,
      fix: `Write ${name} without the "~".`,
    });
  }
  if (reverse) return;
  const message = `~${name} follows edges backwards, which @reverse keeps, and ${name} has none`;
  throw missingIndex(message, predicate, { reverse: true }, position, execution);
}
