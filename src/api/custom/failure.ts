import { asError, GraphsteadError, type Hide, hiding } from '../../base/index.js';
import type { RemoteError } from '../../outbound/index.js';
import type { Model } from '../../sdl/index.js';
import type { CustomError, CustomResult } from '../execute/custom-logic.js';
import type { Path } from './error-path.js';

/** What a call stands for, in messages: `custom query user`, `custom field User.name`. */
type CallName = string;

/** The call was not made: something non-null that it needs is missing. */
export const NOT_EVALUATED: CustomResult = { value: undefined, errors: [] };

/** A call that failed as one error, which names the field. */
export function failed(name: CallName, thrown: unknown): CustomResult {
  const error = asError(thrown);
  if (error.code === 'CANCELLED') throw error;
  const { code, fix, details } = error;
  return {
    value: null,
    errors: [{ message: `${name} failed: ${error.message}`, extensions: { ...details, fix, code } }],
  };
}

/** Remotes repeat what they were sent when they refuse it. */
export function hidingSecrets({ secrets }: Pick<Model, 'secrets'>): Hide {
  return hiding(Object.fromEntries([...secrets].map(([name, secret]) => [name, secret.reveal()])));
}

/** A reply to a batch that has not one item for each that was sent. */
export function wrongBatch(message: string): GraphsteadError {
  return new GraphsteadError('REMOTE_REPLY', message, {
    fix: 'Answer a list with one item for each that was sent, in their order, null where there is none, or leave mode: BATCH out.',
  });
}

/** Errors that a REST remote listed: they are the remote's, so their paths stay as they are. */
export function restErrors(errors: readonly RemoteError[]): CustomError[] {
  return errors.map((error) => ({ ...error, ...(error.path ? { absolute: true } : {}) }));
}

/** Errors of a GraphQL remote; their paths begin with the remote field, whose place ours takes. */
export function graphqlErrors(
  errors: readonly RemoteError[],
  inClientsWords: (path: Path) => readonly Path[],
): CustomError[] {
  return errors.flatMap(({ locations: _, path, ...error }) =>
    path ? inClientsWords(path.slice(1)).map((place) => ({ ...error, path: place })) : [error],
  );
}
