// graphql-sse's handler in a process of its own.
import { join } from 'node:path';
import { root } from '../service.mjs';
import { installPeers } from './install.mjs';
import { startPeer } from './start.mjs';

const VERSION = '2.6.1';

/** A running server that knows bursts of so many events, or undefined (and a line that says why). */
export async function startGraphqlSse(print, { burst }) {
  const dir = installPeers({ 'graphql-sse': VERSION, graphql: '16.11.0' }, print);
  if (dir === undefined) return undefined;
  return startPeer(`graphql-sse ${VERSION}`, [join(root, 'bench/peers/graphql-sse-server.mjs'), dir, String(burst)]);
}
