import { type Claims, requireTask } from './task.js';

/** Whoever calls a function, sends a message by itself, or would listen to an agent. */
export interface Caller {
  /**
   * What the caller's verified token says: the claims under the namespace of `# Service.Authorization`, standard claims
   * beside them. undefined without a token, and in an agent's turn, unless a client sent the message by itself (a handler with
   * `@mutation` or `@query`): any other message carries what its handler must know.
   */
  readonly claims: Claims | undefined;
  /**
   * Aborts when nobody waits for the function any more (its caller has left, or the reader of its stream), and when its time is
   * over: hand it to fetch and the like. In an agent's turn that is `this.signal`.
   */
  readonly signal: AbortSignal;
}

/** Who calls the function that runs. */
export const caller: Caller = {
  get claims(): Claims | undefined {
    return requireTask('caller.claims').caller?.claims;
  },
  get signal(): AbortSignal {
    return requireTask('caller.signal').signal;
  },
};
