import { maxHeaderSize } from 'node:http';

/** The head of a request that is plain enough to be answered past the HTTP library. */
export interface PlainHead {
  readonly path: string;
  /** path and query string, as they came */
  readonly url: string;
  /** of the query string; none stands there twice, and nothing in it needs decoding */
  readonly query: Readonly<Record<string, string>>;
  /** by lower-case names; none stands there twice */
  readonly headers: Readonly<Record<string, string>>;
  /** bytes of the body */
  readonly length: number;
}

/** The only request lines that are plain. Everything else is for the library. */
const REQUEST_LINE = /^POST ((\/[a-z]+)(?:\?([\w.=&-]+))?) HTTP\/1\.1$/;
const PARAMETER = /^([\w.-]+)=([\w.-]*)$/;

/** A header's name (RFC 9110, 5.6.2), and the texts that its value may be: visible ASCII and blanks. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VALUE = /^[\x20-\x7e]*$/;
const LENGTH = /^\d{1,8}$/;

/** What asks for more than one answer to one body of a known length. */
const NOT_PLAIN = new Set([
  'transfer-encoding',
  'content-encoding',
  'expect',
  'upgrade',
  'trailer',
  'te',
  // the library ends a connection for it
  'proxy-connection',
]);

/**
 * Reads a head (RFC 9112) without the blank line at its end. Answers undefined for whatever is not plain: another request
 * line, a header twice or folded, bytes beyond ASCII, a body without a length, a connection that is to end, more than the
 * library reads. Whoever reads less than the library must never read it otherwise: a doubt is a no.
 */
export function plainHead(text: string): PlainHead | undefined {
  if (text.length >= maxHeaderSize) return undefined;
  const lines = text.split('\r\n');
  const [, url, path, parameters] = REQUEST_LINE.exec(lines[0]) ?? [];
  if (url === undefined) return undefined;
  const query = parameters === undefined ? {} : parametersIn(parameters);
  if (query === undefined) return undefined;
  const headers: Record<string, string> = {};
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i];
    const colon = line.indexOf(':');
    if (colon < 1) return undefined;
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1);
    if (!NAME.test(name) || !VALUE.test(value)) return undefined;
    const known = name.toLowerCase();
    // `in`: what objects have of their own is no plain name either
    if (NOT_PLAIN.has(known) || known in headers) return undefined;
    headers[known] = withoutBlanks(value);
  }
  const { host, connection, 'content-length': length } = headers;
  if (!host || !LENGTH.test(length ?? '')) return undefined;
  if (connection !== undefined && connection.toLowerCase() !== 'keep-alive') return undefined;
  // one object for all requests whose heads are alike
  return { path, url, query: Object.freeze(query), headers: Object.freeze(headers), length: Number(length) };
}

function parametersIn(text: string): Record<string, string> | undefined {
  const query: Record<string, string> = {};
  for (const part of text.split('&')) {
    const [, name, value] = PARAMETER.exec(part) ?? [];
    if (name === undefined || name in query) return undefined;
    query[name] = value;
  }
  return query;
}

/** Blanks alone: `trim` takes more. */
function withoutBlanks(value: string): string {
  return value.replace(/^ +| +$/g, '');
}
