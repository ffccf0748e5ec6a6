import { type Claims, requireTask } from './task.js';

/** Whoever calls a function, or would listen to an agent. */
export interface Caller {
  /**
   * What the caller's verified token says: the claims under the namespace of `# Service.Authorization`, standard claims
   * beside them. undefined without a token, and in an agent's turn: a message carries what its handler must know.
   */
  readonly claims: Claims | undefined;
}

/** Who calls the function that runs. */
export const caller: Caller = {
  get claims(): Claims | undefined {
    return requireTask('caller.claims').claims;
  },
};
