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
