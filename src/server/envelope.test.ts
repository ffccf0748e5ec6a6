import { expect, it } from 'vitest';
import { defaultNames, dgraphNames, type ErrorCode, GraphsteadError } from '../base/index.js';
import { failure } from './envelope.js';

const statuses = (code: ErrorCode) => {
  const error = new GraphsteadError(code, 'what is wrong', { fix: 'do something else' });
  return [defaultNames, dgraphNames].map((names) => failure(error, names).status);
};

it.each<[ErrorCode, number]>([
  ['TIMEOUT', 504],
  ['INDEX_BUILDING', 503],
  ['UNSUPPORTED_MEDIA_TYPE', 415],
  ['IDEMPOTENCY_MISMATCH', 422],
  ['TXN_ABORTED', 409],
  ['SYNTAX', 400],
  ['INTERNAL', 500],
])(
  '%s is told in the body under --compat dgraph: its client throws away what comes with another status',
  (code, status) => {
    expect(statuses(code)).toEqual([status, 200]);
  },
);

it.each<[ErrorCode, number]>([
  ['UNAUTHENTICATED', 401],
  ['NOT_READY', 503],
  ['OVERLOADED', 503],
  ['STORE_FENCED', 503],
  ['DISK_FULL', 507],
])('%s keeps its status in either mode, for who stands in front', (code, status) => {
  expect(statuses(code)).toEqual([status, status]);
});
