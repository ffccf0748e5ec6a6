import type { GraphQLField } from 'graphql';
import type { Operation } from '../api/index.js';
import { answerOf, refusal } from './answer.js';
import type { Tool } from './contract.js';
import { inputSchema } from './input-schema.js';
import { selectionOf } from './selection.js';

/** A function of the app as a tool: its name, arguments and description, and its whole result. */
export function functionTool(
  { name, kind }: Operation,
  { args, type, description }: GraphQLField<unknown, unknown>,
): Tool {
  const selection = selectionOf(type);
  const query = documentOf(kind, name, args, selection.text);
  const known = new Set(args.map((arg) => arg.name));
  return {
    name,
    description: [description, levelsTold(selection.levels), fieldsTold(selection.fields)].filter(Boolean).join('\n\n'),
    inputSchema: inputSchema(args),
    readOnly: kind === 'query',
    async call(given, run) {
      const unknown = Object.keys(given).filter((arg) => !known.has(arg));
      if (unknown.length > 0) return refusal(`${name} has no argument ${unknown.join(', ')}; ${takes(known)}`);
      return answerOf(await run({ query, variables: given }), (data) => shown(data[name]));
    },
  };
}

function documentOf(kind: string, name: string, args: readonly { name: string; type: unknown }[], selection: string) {
  if (args.length === 0) return `${kind} { ${name}${selection} }`;
  const variables = args.map((arg) => `$${arg.name}: ${String(arg.type)}`).join(', ');
  const given = args.map((arg) => `${arg.name}: $${arg.name}`).join(', ');
  return `${kind} (${variables}) { ${name}(${given})${selection} }`;
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));

const takes = (known: ReadonlySet<string>): string =>
  known.size === 0 ? 'it takes none' : `it takes ${[...known].join(', ')}`;

function levelsTold(levels: number | undefined): string | undefined {
  return levels === undefined
    ? undefined
    : `Objects inside objects of the same type are answered ${levels} levels deep.`;
}

function fieldsTold(fields: number | undefined): string | undefined {
  return fields === undefined
    ? undefined
    : `Its result has more fields than fit: the first ${fields} are answered, and graphql_query answers those it asks for.`;
}
