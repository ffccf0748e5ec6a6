import { GraphsteadError } from '../base/index.js';
import type { Model } from '../sdl/index.js';

/**
 * What the stored data refuses of a model's predicates, with the place of the field that makes the predicate which the
 * refusal names. Other errors are answered as they are.
 */
export function atField(error: unknown, { objects }: Model): unknown {
  if (!(error instanceof GraphsteadError) || error.code !== 'INVALID_SCHEMA') return error;
  const { message, fix, details } = error;
  const words = new Set((message.match(/[\w.-]+/g) ?? []).map((word) => word.replace(/\.$/, '')));
  const fields = objects.flatMap((type) => (type.remote ? [] : type.fields));
  const position = fields.find(({ storage }) => storage && words.has(storage.predicate))?.position;
  return new GraphsteadError('INVALID_SCHEMA', message, {
    ...(position ? { position } : {}),
    fix,
    details: { ...details, rule: 'stored-data' },
    cause: error,
  });
}
