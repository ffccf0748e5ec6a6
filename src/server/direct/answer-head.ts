import { STATUS_CODES } from 'node:http';
import type { DirectAnswer } from './contract.js';

type Headers = Readonly<Record<string, string>>;

/** The lines of headers that were just made: many answers share them. */
let made: { readonly headers: Headers; readonly lines: string } = { headers: {}, lines: '' };

/**
 * Status line and headers of an answer with the blank line at their end, as Node's own library writes them.
 * @param id of the request
 * @param keptMs how long the connection is kept after this answer; undefined ends it
 */
export function headOf(
  { status, shared, own, body, rest }: DirectAnswer,
  id: string,
  keptMs: number | undefined,
): string {
  if (made.headers !== shared) made = { headers: shared, lines: linesOf(shared) };
  const kept = keptMs === undefined ? 'close' : `keep-alive\r\nKeep-Alive: timeout=${Math.floor(keptMs / 1_000)}`;
  const sent = rest === undefined ? `content-length: ${body.length}` : 'transfer-encoding: chunked';
  const lines = `${made.lines}${linesOf(own)}x-request-id: ${id}\r\n${sent}`;
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\nDate: ${date()}\r\nConnection: ${kept}\r\n\r\n`;
}

function linesOf(headers: Headers): string {
  let lines = '';
  for (const name in headers) lines += `${name}: ${headers[name]}\r\n`;
  return lines;
}

let second = 0;
let dated = '';

/** The date of this second: making it takes longer than the rest of the head. */
function date(): string {
  const now = Math.floor(Date.now() / 1_000);
  if (now !== second) {
    second = now;
    dated = new Date(now * 1_000).toUTCString();
  }
  return dated;
}
