import { isOwnHeader, type Secret } from '../base/index.js';
import type { HeaderRule } from './contract.js';

/** What a call says unless something else is passed on. Some services refuse calls that do not say who makes them. */
const USUAL = { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'graphstead' };

/**
 * Headers of an outgoing JSON call: incoming ones by `forward`, declared secrets by `secret`, which win. Names are lower
 * case. A header that did not come in, one that is the service's own, and a secret that is not declared are left out.
 */
export function outgoingHeaders(options: {
  readonly forward?: readonly HeaderRule[];
  readonly secret?: readonly HeaderRule[];
  readonly incoming?: Readonly<Record<string, string | undefined>>;
  readonly secrets?: ReadonlyMap<string, Secret>;
}): Record<string, string | Secret> {
  const headers: Record<string, string | Secret> = { ...USUAL };
  for (const { remote, local } of options.forward ?? []) {
    const value = options.incoming?.[local.toLowerCase()];
    if (value !== undefined && !isOwnHeader(remote)) headers[remote.toLowerCase()] = value;
  }
  for (const { remote, local } of options.secret ?? []) {
    const value = options.secrets?.get(local);
    if (value && !isOwnHeader(remote)) headers[remote.toLowerCase()] = value;
  }
  return headers;
}
