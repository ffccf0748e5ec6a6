import type { Names } from '../../base/index.js';
import type { IndexSpec, NodeType, Predicate, Schema } from '../contract.js';

/** One predicate as a schema line; what it says is read back as the same. */
export function printPredicate(predicate: Predicate, names: Names): string {
  const type = predicate.list ? `[${predicate.type}]` : predicate.type;
  const indexes = predicate.indexes.length > 0 ? [`@index(${predicate.indexes.map(printIndex).join(', ')})`] : [];
  const flags = (['reverse', 'count', 'upsert', 'unique', 'lang', 'noconflict'] as const)
    .filter((flag) => predicate[flag])
    .map((flag) => `@${flag}`);
  return [`<${names.shown(predicate.name)}>: ${type}`, ...indexes, ...flags, '.'].join(' ');
}

function printIndex({ kind, options }: IndexSpec): string {
  const written = Object.entries(options).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return written.length > 0 ? `${kind}(${written.join(', ')})` : kind;
}

/** One type as the schema text has it. */
export function printType(type: NodeType, names: Names): string {
  return [`type <${names.shown(type.name)}> {`, ...type.fields.map((field) => `  <${names.shown(field)}>`), '}'].join(
    '\n',
  );
}

/** The whole schema as text. */
export function printSchema(schema: Schema, names: Names): string {
  const predicates = schema.predicates.map((predicate) => printPredicate(predicate, names));
  const types = schema.types.map((type) => printType(type, names));
  return `${[...predicates, ...types].join('\n')}\n`;
}
