import { print } from 'graphql';
import { assert } from '../../base/index.js';
import { readGraphqlReply, readRestReply } from '../../outbound/index.js';
import { baseName, type HttpCall, type RemoteOperation } from '../../sdl/index.js';
import { parseDateTime } from '../../values/index.js';
import type { CustomResult, CustomRootCall } from '../execute/custom-logic.js';
import { askedOnce } from './asked-once.js';
import {
  bodyFor,
  type CallSite,
  demandedVariables,
  knownInterfaces,
  sendGraphql,
  sendRest,
  variablesFor,
} from './call.js';
import { clientPaths, type Path } from './error-path.js';
import { failed, graphqlErrors, NOT_EVALUATED, restErrors } from './failure.js';
import { inOwnKeys } from './own-keys.js';
import { remoteSelection } from './remote-selection.js';

/** One call for a custom query or mutation. Never throws for what the remote did. */
export async function callRoot(call: CustomRootCall, site: CallSite): Promise<CustomResult> {
  const { http } = site;
  if (!complete(http, call.args)) return NOT_EVALUATED;
  try {
    checkTimes(call);
    return await (http.graphql ? graphql(call, site, http.graphql) : rest(call, site));
  } catch (error) {
    return failed(`custom ${call.field.root.toLowerCase()} ${call.field.name}`, error);
  }
}

async function rest(call: CustomRootCall, site: CallSite): Promise<CustomResult> {
  const ask = async () => readRestReply(await sendRest(site, call.args, bodyFor(site.http, call.args)));
  const answer = await askedOnce(site, () => [call.field.name, call.args], ask);
  return { value: answer.value, errors: restErrors(answer.errors) };
}

async function graphql(call: CustomRootCall, site: CallSite, operation: RemoteOperation): Promise<CustomResult> {
  const parent = call.field.root === 'Query' ? call.schema.getQueryType() : call.schema.getMutationType();
  assert(parent, 'a custom root field belongs to a generated type');
  const { type } = parent.getFields()[call.field.name];
  const { set, aliased } = remoteSelection(call, type, call.fieldNodes, knownInterfaces(call.model, site));
  const variables = variablesFor(operation, call.args);
  const answer = await askedOnce(
    site,
    () => [call.field.name, variables, set && print(set)],
    async () =>
      inOwnKeys(readGraphqlReply(await sendGraphql(site, operation, set, variables), operation.field), aliased),
  );
  const paths = (told: Path) => clientPaths(call, type, call.fieldNodes, answer.value, told);
  return { value: answer.value, errors: graphqlErrors(answer.errors, paths) };
}

/** What is stored is checked by the store; nothing else looks at a time that is sent on. Throws INVALID_VALUE. */
function checkTimes({ field, args }: CustomRootCall): void {
  const times = field.arguments.filter(({ type }) => baseName(type) === 'DateTime');
  for (const time of times.flatMap(({ name }) => [args[name.value]].flat(MOST_LISTS))) {
    if (typeof time === 'string') parseDateTime(time);
  }
}

const MOST_LISTS = 8;

/** Everything that a path or a non-null variable of the operation needs is there. */
function complete(http: HttpCall, args: Readonly<Record<string, unknown>>): boolean {
  const variables = http.graphql ? demandedVariables(http.graphql) : [];
  return [...http.url.pathVariables, ...variables].every((name) => args[name] !== null && args[name] !== undefined);
}
