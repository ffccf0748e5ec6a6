// What connections of every kind tell alike.

/** What to do about a server that did not answer in time. */
export const TOO_SLOW = 'raise timeoutMs of the connection, or check the server';

/** What is known of a call that was ended on its way. */
export const MAYBE_DONE = 'what was under way may have been done or not';

/** How an answer of more bytes than are taken is told. */
export const tooLarge = (bytes: number): string => `larger than ${bytes} bytes (limits.outboundReplyBytes)`;

/** How a call is told whose caller has ended it, with a reason of any kind. */
export const callEnded = (reason: unknown): string =>
  `the call was ended: ${reason instanceof Error ? reason.message : String(reason)}`;

/** What to do about an answer that is none of success. */
export function fixOfStatus(status: number): string {
  if (status === 401 || status === 403) return 'check the credentials that the headers of the connection send';
  if (status === 404) return 'check the path, which is joined to the baseUrl of the connection';
  if (status === 429) return 'ask later, or less often';
  if (status >= 500) return 'look at the log of that server; the same call may work later';
  return 'correct what is sent, by what the server says of it';
}

/** Variables of the environment that are wanted, as they are told. */
export const notSet = (variables: readonly string[]): string =>
  `${variables.join(', ')} ${variables.length === 1 ? 'is' : 'are'} not set`;
