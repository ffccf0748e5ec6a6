import { type FieldNode, Kind, type OperationDefinitionNode, print, type SelectionSetNode } from 'graphql';
import type { Secret } from '../../base/index.js';
import {
  fillBody,
  fillUrl,
  type HttpClient,
  type OutboundReply,
  outgoingHeaders,
  type TemplateValues,
} from '../../outbound/index.js';
import type { HttpCall, Model, RemoteOperation } from '../../sdl/index.js';
import type { RequestContext } from '../operation.js';

/** What every call of one custom field shares. */
export interface CallSite {
  readonly client: HttpClient;
  readonly http: HttpCall;
  readonly secrets: ReadonlyMap<string, Secret>;
  readonly context: RequestContext;
  /** calls with the same one share what they read */
  readonly shared?: object;
  /** types were compared with those of the remote at upload, unless the call skips introspection */
  readonly comparesTypes: boolean;
}

/** Whether the remote is known to have an interface of ours with all of its fields. */
export function knownInterfaces(model: Model, { http, comparesTypes }: CallSite): (name: string) => boolean {
  return (name) => comparesTypes && !http.skipIntrospection && model.object(name)?.remote === true;
}

/** Sends a REST call with the given body; `undefined` sends none. */
export function sendRest(site: CallSite, values: TemplateValues, body: unknown): Promise<OutboundReply> {
  const { http } = site;
  return send(site, http.method, fillUrl(http.url, values), body, IDEMPOTENT.has(http.method));
}

/** The REST body for one set of values; undefined where the field has no body template. */
export function bodyFor(http: HttpCall, values: TemplateValues): unknown {
  return http.body ? fillBody(http.body.root, values) : undefined;
}

/** Sends the field's GraphQL operation, the client's selection merged in. */
export function sendGraphql(
  site: CallSite,
  operation: RemoteOperation,
  selection: SelectionSetNode | undefined,
  variables: Readonly<Record<string, unknown>>,
): Promise<OutboundReply> {
  const body = { query: operationText(operation, selection), variables };
  return send(site, 'POST', fillUrl(site.http.url, {}), body, operation.kind === 'query');
}

/** The variables of an operation out of values: an absent one is left out. */
export function variablesFor(operation: RemoteOperation, values: TemplateValues): Record<string, unknown> {
  const given = operation.variables.filter(({ name }) => Object.hasOwn(values, name) && values[name] !== undefined);
  return Object.fromEntries(given.map(({ name }) => [name, values[name]]));
}

/** The variables that an operation cannot be sent without: those that may not be null and have no default. */
export function demandedVariables({ variables, operation }: RemoteOperation): readonly string[] {
  const withDefault = new Set(
    operation.variableDefinitions
      ?.filter((one) => one.defaultValue !== undefined)
      .map((one) => one.variable.name.value),
  );
  return variables.filter(({ nonNull, name }) => nonNull && !withDefault.has(name)).map(({ name }) => name);
}

/** The given operation with a selection on its one field. */
function operationText(operation: RemoteOperation, selection: SelectionSetNode | undefined): string {
  const [field] = operation.operation.selectionSet.selections as readonly FieldNode[];
  const merged: OperationDefinitionNode = {
    ...operation.operation,
    selectionSet: { kind: Kind.SELECTION_SET, selections: [{ ...field, selectionSet: selection }] },
  };
  return print({ kind: Kind.DOCUMENT, definitions: [merged] });
}

const IDEMPOTENT = new Set(['GET', 'PUT', 'DELETE']);

function send(
  { client, http, secrets, context }: CallSite,
  method: HttpCall['method'],
  url: string,
  body: unknown,
  idempotent: boolean,
): Promise<OutboundReply> {
  const headers = outgoingHeaders({
    forward: http.forwardHeaders,
    secret: http.secretHeaders,
    incoming: context.headers,
    secrets,
  });
  const text = body === undefined ? undefined : jsonText(body);
  return client.send({ method, url, headers, body: text, idempotent, signal: context.signal });
}

/** Integers beyond 2^53 go as text, which loses no digit; JSON alone refuses them. */
export function jsonText(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(body, (_, value: unknown) => (typeof value === 'bigint' ? value.toString() : value));
  }
}
