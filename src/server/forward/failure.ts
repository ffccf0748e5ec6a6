import { cancelled, GraphsteadError } from '../../base/index.js';

/** Nothing was sent. @param option names the service that writes */
export function writerAway(host: string, option: string, cause: unknown): GraphsteadError {
  const told = `this service only reads, and the one that writes cannot be reached at ${host}`;
  const fix = `Come back later; a query that says that it only reads (ro=true) is answered here. Where it stays so, look whether ${option} names the service that writes.`;
  return new GraphsteadError('READ_ONLY_STORE', told, { fix, cause });
}

/** Something of it was sent, and no answer came. @param fix for those whose request can be told from its repetition */
export function outcomeUnknown(fix: string, cause: unknown): GraphsteadError {
  return new GraphsteadError('OUTCOME_UNKNOWN', 'the service that writes took the request and did not answer', {
    fix,
    cause,
  });
}

export function clientLeft(): GraphsteadError {
  return cancelled('the client went away before the service that writes had answered');
}
