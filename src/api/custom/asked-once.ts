import { within } from '../../base/index.js';
import type { RemoteAnswer } from '../../outbound/index.js';
import type { HttpCall } from '../../sdl/index.js';
import { keyOfValues } from '../execute/variables.js';
import type { CallSite } from './call.js';

const answers = new WeakMap<object, Map<string, Promise<RemoteAnswer>>>();

/** Calls of one request that send the same and only read are one call. `sent` tells what a call sends. */
export function askedOnce(
  { http, shared }: CallSite,
  sent: () => readonly unknown[],
  ask: () => Promise<RemoteAnswer>,
): Promise<RemoteAnswer> {
  if (!shared || !onlyReads(http)) return ask();
  const asked = within(answers, shared, () => new Map<string, Promise<RemoteAnswer>>());
  return within(asked, keyOfValues(sent()), ask);
}

const onlyReads = ({ graphql, method }: HttpCall): boolean => (graphql ? graphql.kind === 'query' : method === 'GET');
