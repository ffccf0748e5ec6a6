import { asError, GraphsteadError } from '../base/index.js';
import type { HttpClient, OutboundReply, OutboundRequest, RemoteAnswer } from './contract.js';
import { readGraphqlReply } from './reply.js';

/** A type as introspection tells it: a name, or a list or non-null of another. */
export interface RemoteTypeRef {
  readonly kind: string;
  readonly name: string | null;
  readonly ofType: RemoteTypeRef | null;
}

export interface RemoteInput {
  readonly name: string;
  readonly type: RemoteTypeRef;
  readonly defaultValue: string | null;
}

export interface RemoteField {
  readonly name: string;
  readonly args: readonly RemoteInput[];
  readonly type: RemoteTypeRef;
}

export interface RemoteType {
  readonly kind: string;
  readonly name: string;
  readonly fields: readonly RemoteField[] | null;
  readonly inputFields: readonly RemoteInput[] | null;
  readonly enumValues: readonly { readonly name: string }[] | null;
  /** of an interface or a union */
  readonly possibleTypes: readonly { readonly name: string }[] | null;
}

/** What a GraphQL remote offers. */
export interface RemoteSchema {
  /** undefined where the remote has none */
  readonly queryType?: string;
  readonly mutationType?: string;
  type(name: string): RemoteType | undefined;
}

const REF =
  'kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } }';
const QUERY = `query { __schema { queryType { name } mutationType { name } types { kind name fields(includeDeprecated: true) { name args { name defaultValue type { ${REF} } } type { ${REF} } } inputFields { name defaultValue type { ${REF} } } enumValues(includeDeprecated: true) { name } possibleTypes { name } } } }`;

/**
 * Asks a GraphQL remote what it offers. Throws as HttpClient.send does, and REMOTE_REPLY where the answer is no
 * introspection.
 */
export async function introspect(
  client: HttpClient,
  url: string,
  headers: OutboundRequest['headers'],
): Promise<RemoteSchema> {
  const body = JSON.stringify({ query: QUERY });
  const reply = await client.send({ method: 'POST', url, headers, body, idempotent: true });
  const { value, errors } = answerOf(reply, url);
  const schema = value as RawSchema | null;
  if (!isSchema(schema)) {
    const told = errors.length > 0 ? `: ${errors[0].message}` : '';
    throw new GraphsteadError('REMOTE_REPLY', `${url} did not answer introspection with a schema${told}`, { fix: FIX });
  }
  const types = new Map(schema.types.map((type) => [type.name, type]));
  return {
    queryType: schema.queryType?.name,
    mutationType: schema.mutationType?.name,
    type: (name) => types.get(name),
  };
}

const FIX = 'Check the url and introspectionHeaders, or set skipIntrospection: true.';

function answerOf(reply: OutboundReply, url: string): RemoteAnswer {
  try {
    return readGraphqlReply(reply, '__schema');
  } catch (error) {
    const { code, message } = asError(error);
    throw new GraphsteadError(code, `introspection of ${url}: ${message}`, { fix: FIX });
  }
}

/** What is compared later is there, in its shape; remotes that are no GraphQL services answer anything. */
function isSchema(value: unknown): value is RawSchema {
  return isRecord(value) && isListOf(value['types'], isType);
}

const isType = (value: unknown): boolean =>
  isRecord(value) &&
  typeof value['name'] === 'string' &&
  (isNothing(value['fields']) || isListOf(value['fields'], isField)) &&
  (isNothing(value['inputFields']) || isListOf(value['inputFields'], isTyped)) &&
  (isNothing(value['enumValues']) || isListOf(value['enumValues'], isRecord)) &&
  (isNothing(value['possibleTypes']) || isListOf(value['possibleTypes'], isRecord));

const isField = (value: unknown): boolean => isTyped(value) && isListOf((value as Tree)['args'], isTyped);
const isTyped = (value: unknown): boolean =>
  isRecord(value) && typeof value['name'] === 'string' && isTypeRef(value['type']);
const isTypeRef = (value: unknown): boolean =>
  isRecord(value) && typeof value['kind'] === 'string' && (isNothing(value['ofType']) || isTypeRef(value['ofType']));

type Tree = Readonly<Record<string, unknown>>;
const isRecord = (value: unknown): value is Tree => typeof value === 'object' && value !== null;
const isNothing = (value: unknown): boolean => value === null || value === undefined;
const isListOf = (value: unknown, is: (item: unknown) => boolean): boolean => Array.isArray(value) && value.every(is);

interface RawSchema {
  readonly queryType: { readonly name: string } | null;
  readonly mutationType: { readonly name: string } | null;
  readonly types: readonly RemoteType[];
}

/** A type as it is written: `[Author!]!`. */
export function remoteTypeText(type: RemoteTypeRef | null): string {
  if (!type) return '';
  if (type.kind === 'NON_NULL') return `${remoteTypeText(type.ofType)}!`;
  return type.kind === 'LIST' ? `[${remoteTypeText(type.ofType)}]` : (type.name ?? '');
}

/** The name inside all lists and non-nulls. */
export function remoteTypeName(type: RemoteTypeRef): string {
  return type.ofType ? remoteTypeName(type.ofType) : (type.name ?? '');
}
