/** Headers that belong to one connection, and are never passed on (RFC 9110, 7.6.1). */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Those of outgoing calls that the service decides: how the body is written, and how the answer may be. */
const OF_CALL: ReadonlySet<string> = new Set([
  'accept-encoding',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
]);

/** Whether it is said of one connection alone. Case does not count. */
export const isOfConnection = (name: string): boolean => OF_CONNECTION.has(name.toLowerCase());

/** Whether outgoing calls have the header from the service alone. Case does not count. */
export const isOwnHeader = (name: string): boolean => isOfConnection(name) || OF_CALL.has(name.toLowerCase());
