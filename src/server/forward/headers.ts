import type { IncomingHttpHeaders } from 'node:http';

/** Says that a service that only reads has sent it on. */
export const FORWARDED = 'x-graphstead-forwarded';

/** Of one connection alone (RFC 9110, 7.6.1), and what is said anew. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
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
  const on = passed(headers, (name) => !SAID_ANEW.has(name));
  if (length !== undefined) on['content-length'] = String(length);
  return { ...on, host, 'x-request-id': id, [FORWARDED]: '1' };
}

/** What the client is told of its answer. */
export function headersBack(headers: IncomingHttpHeaders): Record<string, string> {
  const back = passed(headers, () => true);
  return Object.fromEntries(Object.entries(back).map(([name, value]) => [name, String(value)]));
}

function passed(headers: IncomingHttpHeaders, also: (name: string) => boolean): Headers {
  const named = String(headers.connection ?? '').toLowerCase();
  const ofConnection = new Set([...OF_CONNECTION, ...named.split(',').map((name) => name.trim())]);
  const kept: Headers = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !ofConnection.has(name) && also(name)) kept[name] = value;
  }
  return kept;
}
