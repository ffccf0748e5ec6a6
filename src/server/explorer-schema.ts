import type { RequestContext } from '../api/index.js';
import { loadModel, type Model, type ObjectType, type RootField } from '../sdl/index.js';
import type { Core } from './core.js';
import type { ExplorerField, ExplorerOperation, ExplorerSchema, ExplorerType } from './explorer-schema-info.js';

export async function describeSchema(core: Core, context: RequestContext): Promise<ExplorerSchema> {
  const text = core.api.current()?.text ?? '';
  const model = text === '' ? undefined : loadModel(text, { names: core.names });
  const { operations, refused } = await listOperations(core, context, model);
  return {
    text: text === '' ? null : text,
    types: model ? typesOf(model) : [],
    operations,
    ...(refused === undefined ? {} : { refused }),
  };
}

const NO_PARTS = { remote: false, implements: [], fields: [], members: [] } as const;

function typesOf(model: Model): ExplorerType[] {
  return [...model.types.values()].map((type) => {
    const { name, description } = type;
    if (type.kind === 'enum') {
      return { ...NO_PARTS, name, kind: type.kind, description, members: type.values.map((value) => value.name) };
    }
    if (type.kind === 'union') return { ...NO_PARTS, name, kind: type.kind, description, members: type.members };
    if (type.kind === 'input') return { ...NO_PARTS, name, kind: type.kind, description };
    return {
      name,
      kind: type.kind,
      description,
      remote: type.remote,
      implements: type.interfaces,
      members: type.kind === 'interface' ? type.members : [],
      fields: fieldsOf(type),
      ...(type.remote ? {} : { storedName: type.storedName }),
    };
  });
}

function fieldsOf(type: ObjectType): ExplorerField[] {
  const fields = type.fields.map((field): ExplorerField => {
    const { name, role, storage, inverse, description } = field;
    return {
      name,
      type: field.type.text,
      role,
      predicate: storage?.predicate,
      ...(storage?.reverse ? { reverse: true } : {}),
      search: field.search.map((search) => search.kind),
      unique: field.xid !== undefined,
      ...(inverse ? { inverse: `${inverse.type}.${inverse.field}` } : {}),
      description,
    };
  });
  if (!type.password) return fields;
  const { field: name, predicate } = type.password;
  const password = { name, predicate, type: 'Password', role: 'scalar', search: [], unique: false } as const;
  return [...fields, password];
}

interface Introspected {
  readonly name: string;
  readonly description?: string | null;
  readonly type: TypeName;
  readonly args: readonly { readonly name: string; readonly type: TypeName }[];
}

interface TypeName {
  readonly kind: string;
  readonly name: string | null;
  readonly ofType?: TypeName | null;
}

const TYPE = 'kind name ofType { kind name ofType { kind name ofType { kind name } } }';
const FIELDS = `fields { name description type { ${TYPE} } args { name type { ${TYPE} } } }`;
const QUESTION = `{ __schema { query: queryType { ${FIELDS} } mutation: mutationType { ${FIELDS} }
  subscription: subscriptionType { ${FIELDS} } } }`;

async function listOperations(
  core: Core,
  context: RequestContext,
  model: Model | undefined,
): Promise<{ operations: ExplorerOperation[]; refused?: string }> {
  const answer = await core.api.execute({ query: QUESTION }, context);
  const { data, errors } = JSON.parse(answer.body.toString('utf8')) as {
    data?: { __schema: Record<ExplorerOperation['kind'], { fields: Introspected[] } | null> } | null;
    errors?: { message: string }[];
  };
  if (!data) return { operations: [], refused: model ? errors?.[0]?.message : undefined };
  const origin = originOf(model);
  const kinds = ['query', 'mutation', 'subscription'] as const;
  const operations = kinds.flatMap((kind) =>
    (data.__schema[kind]?.fields ?? []).map(({ name, description, type, args }) => ({
      name,
      kind,
      ...origin(name),
      result: typeText(type),
      args: args.map((argument) => ({ name: argument.name, type: typeText(argument.type) })),
      ...(description ? { description } : {}),
    })),
  );
  return { operations };
}

type Origin = Pick<ExplorerOperation, 'from' | 'source'>;

/** Generated names follow the type's name; @custom fields are in the model; what is left is an app's function. */
function originOf(model: Model | undefined): (name: string) => Origin {
  const known = new Map<string, Origin>([
    ['agentEvent', { from: 'service' }],
    ['_entities', { from: 'service' }],
    ['_service', { from: 'service' }],
  ]);
  for (const { name } of model?.objects ?? []) {
    const generated = ['get', 'query', 'aggregate', 'add', 'update', 'delete'].map((verb) => `${verb}${name}`);
    const others = [`check${name}Password`, `querySimilar${name}ById`, `querySimilar${name}ByEmbedding`];
    for (const operation of [...generated, ...others]) known.set(operation, { from: 'type', source: name });
  }
  for (const field of [...(model?.queries ?? []), ...(model?.mutations ?? [])]) {
    known.set(field.name, { from: 'custom', source: calls(field) });
  }
  return (name) => known.get(name) ?? { from: 'function' };
}

function calls({ custom }: RootField): string {
  if (custom.kind === 'dql') return 'a query of the graph language';
  if (custom.kind === 'lambda') return 'nothing: @lambda answers null';
  const remote = custom.http.graphql;
  return remote ? `${remote.kind} ${remote.field} of another GraphQL API` : `${custom.http.method} over HTTP`;
}

function typeText(type: TypeName): string {
  if (type.kind === 'NON_NULL' && type.ofType) return `${typeText(type.ofType)}!`;
  if (type.kind === 'LIST' && type.ofType) return `[${typeText(type.ofType)}]`;
  return type.name ?? '';
}
