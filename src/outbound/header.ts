import type { Secret } from '../base/index.js';
import type { HeaderRule } from './contract.js';

/** Headers that belong to one connection and are never passed on (RFC 9110 7.6.1), and those that we set ourselves. */
const OWN = new Set([
  'connection',
  'content-length',
  'content-type',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Headers of an outgoing JSON call: incoming ones by `forward`, declared secrets by `secret`, which win. Names are lower
 * case. A header that did not come in, and a secret that is not declared, are left out.
 */
export function outgoingHeaders(options: {
  readonly forward?: readonly HeaderRule[];
  readonly secret?: readonly HeaderRule[];
  readonly incoming?: Readonly<Record<string, string | undefined>>;
  readonly secrets?: ReadonlyMap<string, Secret>;
}): Record<string, string | Secret> {
  const headers: Record<string, string | Secret> = { 'content-type': 'application/json' };
  for (const { remote, local } of options.forward ?? []) {
    const value = options.incoming?.[local.toLowerCase()];
    if (value !== undefined && !OWN.has(remote.toLowerCase())) headers[remote.toLowerCase()] = value;
  }
  for (const { remote, local } of options.secret ?? []) {
    const value = options.secrets?.get(local);
    if (value && !OWN.has(remote.toLowerCase())) headers[remote.toLowerCase()] = value;
  }
  return headers;
}
