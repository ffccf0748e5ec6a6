import type { IncomingHttpHeaders } from 'node:http';

/** What says where a request comes from, or belongs to one request alone: no message may say it in a connection's name. */
const NOT_SAID_LATER =
  /^(host|origin|connection|upgrade|expect|te|transfer-encoding|content-.*|sec-.*|proxy-.*|idempotency-key|last-event-id|x-request-id|x-graphstead-.*)$/;
/** header names (RFC 9110, 5.6.2) and values without line breaks */
const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * The headers of a connection's operations: those of its handshake, and what its first message says, which browsers send there
 * since they can set no headers. Texts of the payload, and those of an object `headers` in it, are taken by their names.
 */
export function headersWith(
  handshake: IncomingHttpHeaders,
  payload: Readonly<Record<string, unknown>>,
): IncomingHttpHeaders {
  const { headers: inner, ...outer } = payload;
  const said = [outer, inner].flatMap((part) =>
    typeof part === 'object' && part !== null ? Object.entries(part) : [],
  );
  const merged: Record<string, string | string[] | undefined> = { ...handshake };
  delete merged['idempotency-key'];
  for (const [given, value] of said) {
    const name = given.toLowerCase();
    if (typeof value !== 'string' || !NAME.test(name) || !VALUE.test(value) || NOT_SAID_LATER.test(name)) continue;
    merged[name] = value;
  }
  return merged;
}
