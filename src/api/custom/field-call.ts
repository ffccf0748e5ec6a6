import { type GraphQLOutputType, isInterfaceType, isObjectType, print } from 'graphql';
import { addTo, assert } from '../../base/index.js';
import { readGraphqlReply, readRestReply, type RemoteAnswer } from '../../outbound/index.js';
import type { RemoteOperation } from '../../sdl/index.js';
import type { CustomError, CustomFieldCall, CustomResult } from '../execute/custom-logic.js';
import { keyOfValues } from '../execute/variables.js';
import { askedOnce } from './asked-once.js';
import {
  bodyFor,
  type CallSite,
  demandedVariables,
  jsonText,
  knownInterfaces,
  sendGraphql,
  sendRest,
  variablesFor,
} from './call.js';
import { clientPaths } from './error-path.js';
import { failed, graphqlErrors, NOT_EVALUATED, restErrors, wrongBatch } from './failure.js';
import { inOwnKeys } from './own-keys.js';
import { remoteSelection } from './remote-selection.js';

type Values = Readonly<Record<string, unknown>>;

/**
 * Answers a custom field of several parents: parents that give the call the same values share one call (SINGLE, at most
 * `concurrency` at a time) or one item (BATCH). Never throws for what the remote did.
 */
export async function callField(
  call: CustomFieldCall,
  site: CallSite,
  concurrency: number,
): Promise<readonly CustomResult[]> {
  const { needs } = site.http;
  const demanded = demandedOf(call, site);
  const places = new Map<string, number>();
  const asked: Values[] = [];
  const askedAt = call.parents.map((parent) => {
    if (demanded.some((name) => (given(parent, name) ?? undefined) === undefined)) return -1;
    const key = keyOf(parent, needs);
    const known = places.get(key);
    if (known !== undefined) return known;
    places.set(key, asked.length);
    return asked.push(pick(parent, needs)) - 1;
  });
  const run = site.http.mode === 'BATCH' ? batch : single;
  const results = asked.length > 0 ? await run(call, site, asked, concurrency) : [];
  return askedAt.map((at) => (at === -1 ? NOT_EVALUATED : results[at]));
}

function pick(parent: Values, names: readonly string[]): Values {
  const picked: Record<string, unknown> = {};
  for (const name of names) {
    const value = given(parent, name);
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}

function given(parent: Values, name: string): unknown {
  return Object.hasOwn(parent, name) ? parent[name] : undefined;
}

/** The same for parents that give a call the same values. */
function keyOf(parent: Values, names: readonly string[]): string {
  if (names.length === 1) {
    const value = given(parent, names[0]);
    if (typeof value === 'string') return `=${value}`;
  }
  return keyOfValues(pick(parent, names));
}

/** What must not be missing: what is non-null, by the type or by the remote's operation. */
function demandedOf(call: CustomFieldCall, { http }: CallSite): readonly string[] {
  const variables = http.graphql && http.mode === 'SINGLE' ? demandedVariables(http.graphql) : [];
  const demanded = new Set([...http.url.pathVariables, ...variables]);
  return http.needs.filter((name) => demanded.has(name) || call.type.field(name)?.type.nonNull === true);
}

const nameOf = (call: CustomFieldCall): string => `custom field ${call.type.name}.${call.field.name}`;

async function single(
  call: CustomFieldCall,
  site: CallSite,
  asked: readonly Values[],
  concurrency: number,
): Promise<CustomResult[]> {
  const results = new Array<CustomResult>(asked.length);
  const name = questionOf(call, site);
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < asked.length) {
      const at = next++;
      results[at] = await one(call, site, asked[at], name);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, asked.length) }, work));
  return results;
}

/** What is asked for, beside the values that it is asked with. */
function questionOf(call: CustomFieldCall, site: CallSite): readonly unknown[] {
  const { field, fieldNodes, model } = call;
  const set =
    site.http.graphql && remoteSelection(call, outputType(call), fieldNodes, knownInterfaces(model, site)).set;
  return [field.owner, field.name, set && print(set)];
}

async function one(
  call: CustomFieldCall,
  site: CallSite,
  values: Values,
  name: readonly unknown[],
): Promise<CustomResult> {
  const { http } = site;
  const { graphql } = http;
  const ask = async (): Promise<RemoteAnswer> =>
    graphql
      ? askGraphql(call, site, graphql, variablesFor(graphql, values))
      : readRestReply(await sendRest(site, values, bodyFor(http, values)));
  try {
    const { value, errors } = await askedOnce(site, () => [...name, values], ask);
    return { value, errors: errorsOf(call, site, { value, errors }) };
  } catch (error) {
    return failed(nameOf(call), error);
  }
}

async function askGraphql(
  call: CustomFieldCall,
  site: CallSite,
  operation: RemoteOperation,
  variables: Values,
): Promise<RemoteAnswer> {
  const { set, aliased } = remoteSelection(call, outputType(call), call.fieldNodes, knownInterfaces(call.model, site));
  return inOwnKeys(readGraphqlReply(await sendGraphql(site, operation, set, variables), operation.field), aliased);
}

function errorsOf(call: CustomFieldCall, { http }: CallSite, { value, errors }: RemoteAnswer): CustomError[] {
  if (!http.graphql) return restErrors(errors);
  return graphqlErrors(errors, (path) => clientPaths(call, outputType(call), call.fieldNodes, value, path));
}

function outputType(call: CustomFieldCall): GraphQLOutputType {
  const type = call.schema.getType(call.type.name);
  assert(isObjectType(type) || isInterfaceType(type), 'a custom field belongs to a generated type');
  return type.getFields()[call.field.name].type;
}

/** One call with a list of bodies. Its errors stand at the first parent, or at the item that their path names. */
async function batch(call: CustomFieldCall, site: CallSite, asked: readonly Values[]): Promise<CustomResult[]> {
  const bodies = asked.map((values) => bodyFor(site.http, values));
  try {
    return await sendBatch(call, site, bodies);
  } catch (error) {
    return nothingOf(asked.length, failed(nameOf(call), error).errors);
  }
}

async function sendBatch(call: CustomFieldCall, site: CallSite, bodies: readonly unknown[]): Promise<CustomResult[]> {
  const { graphql } = site.http;
  const ask = async (): Promise<RemoteAnswer> =>
    graphql
      ? askGraphql(call, site, graphql, { [graphql.variables[0].name]: bodies })
      : readRestReply(await sendRest(site, {}, bodies));
  const answer = await askedOnce(site, () => [...questionOf(call, site), jsonText(bodies)], ask);
  const errors = errorsOf(call, site, answer);
  const nothing = answer.value === null || answer.value === undefined;
  if (nothing && errors.length > 0) return nothingOf(bodies.length, errors);
  return withErrors(items(answer.value, bodies.length), errors);
}

/** Each of them failed, those too that no error names. */
function nothingOf(count: number, errors: readonly CustomError[]): CustomResult[] {
  return withErrors(new Array<unknown>(count).fill(null), errors).map((result) => ({ ...result, alsoFailed: true }));
}

function items(value: unknown, count: number): readonly unknown[] {
  if (!Array.isArray(value)) {
    throw wrongBatch(`a list of ${count} items was expected, ${value === null ? 'null' : `one ${typeof value}`} came`);
  }
  if (value.length !== count) throw wrongBatch(`a list of ${count} items was expected, ${value.length} came`);
  return value as readonly unknown[];
}

const NO_ERRORS: readonly CustomError[] = [];

function withErrors(values: readonly unknown[], errors: readonly CustomError[]): CustomResult[] {
  const placed = new Map<number, CustomError[]>();
  for (const error of errors) {
    const [index, ...rest] = error.absolute ? [] : (error.path ?? []);
    const known = typeof index === 'number' && index < values.length;
    const at = known ? index : 0;
    addTo(placed, at, known ? { ...error, path: rest } : error);
  }
  return values.map((value, i) => ({ value, errors: placed.get(i) ?? NO_ERRORS }));
}
