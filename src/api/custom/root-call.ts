import { readGraphqlReply, readRestReply } from '../../outbound/index.js';
import type { HttpCall, RemoteOperation } from '../../sdl/index.js';
import type { CustomResult, CustomRootCall } from '../execute/custom-logic.js';
import { bodyFor, type CallSite, sendGraphql, sendRest, variablesFor } from './call.js';
import { failed, graphqlErrors, NOT_EVALUATED, restErrors } from './failure.js';
import { remoteSelection } from './remote-selection.js';

/** One call for a custom query or mutation. Never throws for what the remote did. */
export async function callRoot(call: CustomRootCall, site: CallSite): Promise<CustomResult> {
  const { http } = site;
  if (!complete(http, call.args)) return NOT_EVALUATED;
  try {
    return await (http.graphql ? graphql(call, site, http.graphql) : rest(call, site));
  } catch (error) {
    return failed(`custom ${call.field.root.toLowerCase()} ${call.field.name}`, error);
  }
}

async function rest(call: CustomRootCall, site: CallSite): Promise<CustomResult> {
  const answer = readRestReply(await sendRest(site, call.args, bodyFor(site.http, call.args)));
  return { value: answer.value, errors: restErrors(answer.errors) };
}

async function graphql(call: CustomRootCall, site: CallSite, operation: RemoteOperation): Promise<CustomResult> {
  const parent = call.field.root === 'Query' ? call.schema.getQueryType() : call.schema.getMutationType();
  const type = parent?.getFields()[call.field.name].type;
  const selection = type && remoteSelection(call, type, call.fieldNodes);
  const reply = await sendGraphql(site, operation, selection, variablesFor(operation, call.args));
  const answer = readGraphqlReply(reply, operation.field);
  return { value: answer.value, errors: graphqlErrors(answer.errors) };
}

/** Everything that a path or a non-null variable of the operation needs is there. */
function complete(http: HttpCall, args: Readonly<Record<string, unknown>>): boolean {
  const operation = http.graphql?.variables.filter((v) => v.nonNull && !hasDefault(http, v.name)).map((v) => v.name);
  return [...http.url.pathVariables, ...(operation ?? [])].every(
    (name) => args[name] !== null && args[name] !== undefined,
  );
}

function hasDefault(http: HttpCall, variable: string): boolean {
  const definitions = http.graphql?.operation.variableDefinitions ?? [];
  return definitions.some((one) => one.variable.name.value === variable && one.defaultValue !== undefined);
}
