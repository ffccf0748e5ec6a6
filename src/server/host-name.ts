import { isLoopback } from './keys.js';

/**
 * Whether a `Host` header names this service. A page of another site can make its own name point at 127.0.0.1 (DNS
 * rebinding): the browser then takes it for the same site, and only the name in this header tells them apart.
 * @param header as it was sent, with or without a port
 * @param names lower-case names, without ports, that the service is reached under besides those of loopback
 */
export function isOwnName(header: string, names: ReadonlySet<string>): boolean {
  const name = withoutPort(header.trim().toLowerCase()).replace(/\.$/, '');
  return isLoopback(name) || name.endsWith('.localhost') || names.has(name);
}

/** Names of GRAPHSTEAD_HOST_NAMES, separated by commas or white space, and the address that is listened on. */
export function ownNames(text: string | undefined, host: string): ReadonlySet<string> {
  const given = (text ?? '').toLowerCase().split(/[\s,]+/);
  return new Set([host.toLowerCase(), ...given.filter(Boolean).map(withoutPort)]);
}

/** `[::1]:8686` -> `::1`, `localhost:8686` -> `localhost` */
function withoutPort(authority: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d*)?$/.exec(authority);
  return bracketed ? bracketed[1] : authority.replace(/:\d*$/, '');
}
