import type { IncomingHttpHeaders } from 'node:http';
import { isOfConnection } from '../../base/index.js';

/** Says that a service that only reads has sent it on. */
export const FORWARDED = 'x-graphstead-forwarded';

/** Says that the service that writes is about to end: what comes behind it may find nobody, and could not be told so. */
export const STOPPING = 'x-graphstead-stopping';

const SAID_ANEW: ReadonlySet<string> = new Set(['host', 'expect', 'x-request-id', FORWARDED]);

type Headers = Record<string, string | string[]>;

interface Anew {
  /** of the request, so that both logs tell of one */
  readonly id: string;
  readonly host: string;
  /** of the body, where it is known; undefined leaves what the client said */
  readonly length: number | undefined;
}

/** What the service that writes is told. */
export function headersOn(headers: IncomingHttpHeaders, { id, host, length }: Anew): Headers {
  const on = passed(headers);
  for (const name of SAID_ANEW) delete on[name];
  if (length !== undefined) on['content-length'] = String(length);
  return { ...on, host, 'x-request-id': id, [FORWARDED]: '1' };
}

/** What the client is told of its answer. */
export function headersBack(headers: IncomingHttpHeaders): Record<string, string> {
  const { [STOPPING]: _, ...back } = passed(headers);
  return Object.fromEntries(Object.entries(back).map(([name, value]) => [name, String(value)]));
}

/** All but those of the connection: `Connection` may name more of them, and a proxy in between asks this service, not the client. */
function passed(headers: IncomingHttpHeaders): Headers {
  const named = String(headers.connection ?? '').toLowerCase();
  const left = new Set(['proxy-authenticate', ...named.split(',').map((name) => name.trim())]);
  const kept: Headers = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !isOfConnection(name) && !left.has(name)) kept[name] = value;
  }
  return kept;
}
