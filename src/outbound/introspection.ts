import { GraphsteadError } from '../base/index.js';
import type { HttpClient, OutboundRequest } from './contract.js';
import { parseJson } from './reply.js';

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
  signal?: AbortSignal,
): Promise<RemoteSchema> {
  const body = JSON.stringify({ query: QUERY });
  const reply = await client.send({ method: 'POST', url, headers, body, idempotent: true, signal });
  if (reply.status < 200 || reply.status > 299) {
    throw new GraphsteadError('REMOTE_FAILED', `introspection of ${url} was answered with status ${reply.status}`);
  }
  const parsed = parseJson(reply.body.toString())?.value as { data?: { __schema?: RawSchema } } | null | undefined;
  const schema = parsed?.data?.__schema;
  if (!schema || typeof schema !== 'object') {
    throw new GraphsteadError('REMOTE_REPLY', `${url} did not answer introspection with a schema`, {
      fix: 'Check the url and introspectionHeaders, or set skipIntrospection: true.',
    });
  }
  const listed = Array.isArray(schema.types) ? schema.types : [];
  const types = new Map(listed.map((type) => [type.name, type]));
  return {
    queryType: schema.queryType?.name,
    mutationType: schema.mutationType?.name,
    type: (name) => types.get(name),
  };
}

interface RawSchema {
  readonly queryType: { readonly name: string } | null;
  readonly mutationType: { readonly name: string } | null;
  readonly types?: readonly RemoteType[];
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
