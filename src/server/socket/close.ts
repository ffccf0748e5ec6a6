/** Close codes of the protocol; those below 4000 are of RFC 6455. */
export const CLOSE = {
  away: 1001,
  tooLarge: 1009,
  full: 1013,
  invalid: 4400,
  unauthorized: 4401,
  forbidden: 4403,
  unknownProtocol: 4406,
  silent: 4408,
  repeated: 4409,
  initAgain: 4429,
} as const;

/** bytes of the reason that a close frame may carry (RFC 6455, 5.5) */
const REASON_BYTES = 123;

/** As much of a reason as goes into a close frame, and no half character. */
export function reasonOf(text: string): string {
  return Buffer.from(text)
    .subarray(0, REASON_BYTES)
    .toString('utf8')
    .replace(/\ufffd$/, '');
}
