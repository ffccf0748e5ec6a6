import type { IncomingHttpHeaders } from 'node:http';
import type { GraphqlRequest } from '../../api/index.js';
import { GraphsteadError, isRecord } from '../../base/index.js';
import { parseJsonObject } from '../body.js';

export const JSON_TYPE = 'application/json';
export const RESPONSE_JSON = 'application/graphql-response+json';
export const EVENT_STREAM = 'text/event-stream';
const GIVEN = [JSON_TYPE, RESPONSE_JSON, EVENT_STREAM];

/** The media types that the client takes and that there are, the one it likes best first; none is application/json. */
export function acceptedTypes({ accept }: Pick<IncomingHttpHeaders, 'accept'>): readonly string[] {
  if (accept === undefined || accept === '*/*') return [];
  return accept
    .toLowerCase()
    .split(',')
    .map((part) => part.split(';').map((piece) => piece.trim()))
    .map(([type, ...parameters]) => ({ type, weight: weightOf(parameters) }))
    .filter(({ type, weight }) => GIVEN.includes(type) && weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ type }) => type);
}

function weightOf(parameters: readonly string[]): number {
  const weight = Number(parameters.find((one) => one.startsWith('q='))?.slice(2) ?? 1);
  return Number.isNaN(weight) ? 1 : weight;
}

/** The request in a JSON body. Throws SYNTAX, INVALID_REQUEST. */
export function requestOfJson(body: string): GraphqlRequest {
  return requestOfObject(parseJsonObject(body, 'the GraphQL request'));
}

/** A request in the query string of a GET. Throws INVALID_REQUEST. */
export function requestOfQueryString({ query }: { readonly query: unknown }): GraphqlRequest {
  const raw = query as Record<string, string | undefined>;
  return requestOfObject({
    query: raw['query'],
    operationName: raw['operationName'] || undefined,
    variables: raw['variables'] ? nullable(raw['variables'], 'variables') : undefined,
    extensions: raw['extensions'] ? nullable(raw['extensions'], 'extensions') : undefined,
  });
}

function nullable(text: string, what: string): unknown {
  return text === 'null' ? null : parseJsonObject(text, `the parameter ${what}`);
}

/** The request that an object says. Throws INVALID_REQUEST. */
export function requestOfObject(json: Readonly<Record<string, unknown>>): GraphqlRequest {
  const { query, operationName, variables, extensions } = json;
  const wrong = (name: string, kind: string) =>
    new GraphsteadError('INVALID_REQUEST', `"${name}" of a GraphQL request must be ${kind}`, {
      fix: 'send {"query": "...", "operationName": "...", "variables": {...}}',
    });
  if (query !== undefined && query !== null && typeof query !== 'string') throw wrong('query', 'a string');
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string') {
    throw wrong('operationName', 'a string');
  }
  if (!isObjectOrNothing(variables)) throw wrong('variables', 'an object');
  if (!isObjectOrNothing(extensions)) throw wrong('extensions', 'an object');
  if (!query && !extensions) {
    throw new GraphsteadError('INVALID_REQUEST', 'the GraphQL request has no "query"', {
      fix: 'send {"query": "{ __typename }"}',
    });
  }
  return { query: query ?? undefined, operationName, variables, extensions };
}

/** A stream can bring any answer, so that a word too many does no harm. */
export function maySubscribe({ query }: GraphqlRequest): boolean {
  return /\bsubscription\b/.test(query ?? '');
}

function isObjectOrNothing(value: unknown): value is Readonly<Record<string, unknown>> | null | undefined {
  return value === undefined || value === null || isRecord(value);
}
