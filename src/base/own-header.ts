/**
 * Headers of outgoing calls that belong to one connection and are never passed on (RFC 9110 7.6.1), and those that say
 * how the body is written and how the answer may be, which the service decides.
 */
const OWN = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Whether outgoing calls have the header from the service alone. Case does not count. */
export const isOwnHeader = (name: string): boolean => OWN.has(name.toLowerCase());
