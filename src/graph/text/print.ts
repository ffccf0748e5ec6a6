import type { Names } from '../../base/index.js';
import type { IndexSpec, NodeType, Predicate, Schema } from '../contract.js';

const BRACKETABLE = /^[^<>"{}|^`\\\s]+$/;

function printName(name: string): string {
  return BRACKETABLE.test(name) ? `<${name}>` : `"${name.replace(/["\\]/g, '\\$&')}"`;
}

/** One predicate as a schema line; what it says is read back as the same. */
export function printPredicate(predicate: Predicate, names: Names): string {
  const type = predicate.list ? `[${predicate.type}]` : predicate.type;
  const indexes = predicate.indexes.length > 0 ? [`@index(${predicate.indexes.map(printIndex).join(', ')})`] : [];
  const flags = (['reverse', 'count', 'upsert', 'unique', 'lang', 'noconflict'] as const)
    .filter((flag) => predicate[flag])
    .map((flag) => `@${flag}`);
  return [`${printName(names.shown(predicate.name))}: ${type}`, ...indexes, ...flags, '.'].join(' ');
}

function printIndex({ kind, options }: IndexSpec): string {
  const written = Object.entries(options).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return written.length > 0 ? `${kind}(${written.join(', ')})` : kind;
}

/** One type as the schema text has it. */
export function printType(type: NodeType, names: Names): string {
  return [
    `type ${printName(names.shown(type.name))} {`,
    ...type.fields.map((field) => `  ${printName(names.shown(field))}`),
    '}',
  ].join('\n');
}

/** The whole schema as text. */
export function printSchema(schema: Schema, names: Names): string {
  const predicates = schema.predicates.map((predicate) => printPredicate(predicate, names));
  const types = schema.types.map((type) => printType(type, names));
  return `${[...predicates, ...types].join('\n')}\n`;
}
