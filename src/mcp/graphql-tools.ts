import { type GraphQLSchema, isIntrospectionType, isSpecifiedScalarType, printType } from 'graphql';
import { isRecord } from '../base/index.js';
import { answerOf, refusal } from './answer.js';
import type { JsonSchema, Tool, ToolAnswer } from './contract.js';

/** What may be asked for, and how to ask for anything that no function of the app answers. */
export function graphqlTools(schema: GraphQLSchema): readonly Tool[] {
  return [
    schemaTool(schema),
    documentTool(
      'graphql_query',
      'Runs a GraphQL query. Read graphql_schema first: it tells the fields, filters and types.',
      true,
    ),
    documentTool('graphql_mutation', 'Runs a GraphQL mutation, which changes stored data, or a query.', false),
  ];
}

const DOCUMENT: JsonSchema = {
  type: 'object',
  properties: {
    query: { type: 'string', description: 'the GraphQL document' },
    variables: { type: 'object', description: 'values of its variables, by name without $' },
    operationName: { type: 'string', description: 'which operation of the document, where it has several' },
  },
  required: ['query'],
  additionalProperties: false,
};

function documentTool(name: string, description: string, readOnly: boolean): Tool {
  return {
    name,
    description,
    inputSchema: DOCUMENT,
    readOnly,
    async call({ query, variables: given, operationName }, run) {
      if (typeof query !== 'string') return refusal(`${name} needs "query", a GraphQL document as text`);
      const variables = given ?? {};
      if (!isRecord(variables)) return refusal('"variables" must be an object: {"name": value}');
      const operation = typeof operationName === 'string' ? { operationName } : {};
      const answer = await run({ query, variables, ...operation }, { allowMutation: !readOnly });
      return answerOf(answer, (_data, json) => json);
    },
  };
}

const SCHEMA_INPUT: JsonSchema = {
  type: 'object',
  properties: {
    types: { type: 'array', items: { type: 'string' }, description: 'names of types whose definitions are wanted' },
    search: { type: 'string', description: 'a part of the names that are wanted; all where it is left out' },
  },
  additionalProperties: false,
};

function schemaTool(schema: GraphQLSchema): Tool {
  return {
    name: 'graphql_schema',
    description:
      'The GraphQL schema: without arguments every operation on one line and the names of all types; with "search" those whose names have it in them; with "types" the definitions of these.',
    inputSchema: SCHEMA_INPUT,
    readOnly: true,
    async call({ types, search }) {
      return Array.isArray(types) && types.length > 0 ? definitions(schema, types) : overview(schema, search);
    },
  };
}

function definitions(schema: GraphQLSchema, names: readonly unknown[]): ToolAnswer {
  const unknown = names.filter((name) => schema.getType(String(name)) === undefined);
  if (unknown.length > 0)
    return refusal(`there is no type ${unknown.join(', ')}; graphql_schema without arguments names all`);
  const found = [...new Set(names)].flatMap((name) => schema.getType(String(name)) ?? []);
  return { text: found.map(printType).join('\n\n') };
}

function overview(schema: GraphQLSchema, search: unknown): ToolAnswer {
  const wanted = typeof search === 'string' ? search.toLowerCase() : '';
  const named = ({ name }: { name: string }) => name.toLowerCase().includes(wanted);
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].flatMap(
    (type) => type ?? [],
  );
  const operations = roots.flatMap((type) => {
    const fields = Object.values(type.getFields()).filter(named);
    return fields.length === 0 ? [] : [`${type.name}:\n${fields.map((field) => `  ${signature(field)}`).join('\n')}`];
  });
  const types = Object.values(schema.getTypeMap())
    .filter(
      (type) =>
        !isIntrospectionType(type) && !isSpecifiedScalarType(type) && !roots.some(({ name }) => name === type.name),
    )
    .filter(named)
    .map(({ name }) => name);
  const text = [...operations, ...(types.length > 0 ? [`Types: ${types.sort().join(', ')}`] : [])].join('\n\n');
  return text === '' ? refusal(`nothing in the schema has a name with "${wanted}" in it`) : { text };
}

interface Signed {
  readonly name: string;
  readonly args: readonly { readonly name: string; readonly type: unknown }[];
  readonly type: unknown;
}

function signature({ name, args, type }: Signed): string {
  const given = args.map((arg) => `${arg.name}: ${String(arg.type)}`).join(', ');
  return `${name}${given === '' ? '' : `(${given})`}: ${String(type)}`;
}
