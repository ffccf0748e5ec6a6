// node:http alone in a process of its own: below it no service in Node gets.
import { join } from 'node:path';
import { root } from '../service.mjs';
import { startPeer } from './start.mjs';

export const startBare = (burst = 0) =>
  startPeer('node:http alone', [join(root, 'bench/peers/bare-server.mjs'), String(burst)]);
