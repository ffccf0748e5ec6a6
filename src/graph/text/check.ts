import { GraphsteadError, type Position } from '../../base/index.js';
import { type IndexKind, indexKindsOf, type TypeName, tokenizer } from '../../values/index.js';
import type { Declaration } from '../alter/part.js';
import { mayHaveLanguages } from '../schema.js';

function refuse(message: string, fix: string, position: Position): never {
  throw new GraphsteadError('INVALID_SCHEMA', message, { position, fix });
}

/** How an index of a type is written. */
export function indexFix(type: TypeName): string {
  if (type === 'uid') return 'Use @reverse or @count for edges.';
  const [kind, ...others] = indexKindsOf(type);
  if (!kind) return `Leave it out: values of type ${type} have no index.`;
  return `Write @index(${kind})${others.length > 0 ? `, or one of ${others.join(', ')}` : ''}.`;
}

/** An index kind must fit the type. Throws INVALID_SCHEMA. */
export function checkIndexKind({ name, type }: Declaration, kind: IndexKind, position: Position): void {
  if (type === 'uid') {
    refuse(`Indexing not allowed on predicate ${name} of type uid`, indexFix(type), position);
  }
  if (tokenizer(kind).types.includes(type)) return;
  refuse(`Tokenizer: ${kind} isn't valid for predicate: ${name} of type: ${type}`, indexFix(type), position);
}

/** The rules between type and directives. Throws INVALID_SCHEMA. */
export function checkDeclaration(declaration: Declaration, position: Position): void {
  const { name, type } = declaration;
  if (declaration.reverse && type !== 'uid') {
    refuse(`Cannot reverse for non-UID type: ${name} is of type ${type}`, 'Leave @reverse out, or use uid.', position);
  }
  if (declaration.lang && !mayHaveLanguages(declaration)) {
    refuse(
      `@lang directive can only be specified for string type: ${name}`,
      'Leave @lang out, or use string.',
      position,
    );
  }
  const sortable = declaration.indexes.filter((index) => tokenizer(index.kind).sortable);
  if (sortable.length > 1) {
    refuse(`More than one sortable index encountered for: ${name}`, `Keep one of ${kindsOf(sortable)}.`, position);
  }
  // @unique tells of a missing index in its own words
  if (declaration.upsert && !declaration.unique && declaration.indexes.length === 0) {
    refuse(
      `Index tokenizer is mandatory for: [${name}] when specifying @upsert directive`,
      'Add @index(hash), or leave @upsert out.',
      position,
    );
  }
}

function kindsOf(indexes: Declaration['indexes']): string {
  return indexes.map((index) => index.kind).join(', ');
}

const NEVER_UNIQUE: ReadonlySet<Declaration['type']> = new Set(['uid', 'datetime', 'password', 'float32vector']);

/** Index kinds by which equal values of the type are found. */
function uniqueKinds(type: Declaration['type']): readonly string[] {
  return type === 'string' || type === 'default' ? ['hash', 'exact'] : [type];
}

/** @unique needs an index that finds equal values. Throws INVALID_SCHEMA. */
export function checkUniqueIndex(declaration: Declaration, position: Position): void {
  const { name, type, indexes } = declaration;
  if (NEVER_UNIQUE.has(type)) {
    refuse(
      `@unique cannot stand at ${name}: no index finds equal values of type ${type}`,
      'Leave @unique out, or use a type such as string or int.',
      position,
    );
  }
  const kinds = uniqueKinds(type);
  if (indexes.some((index) => kinds.includes(index.kind))) return;
  const text = type === 'string' || type === 'default' ? 'either hash or exact index' : `${type} index`;
  refuse(
    `index for predicate [${name}] is missing, add ${text} with @unique`,
    `Add @index(${kinds[kinds.length - 1]}).`,
    position,
  );
}
