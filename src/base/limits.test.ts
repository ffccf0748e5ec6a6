import { expect, it } from 'vitest';
import { DEFAULT_LIMITS, makeLimits } from './limits.js';

it('come from defaults, then the environment, then explicit values', () => {
  const environment = { GRAPHSTEAD_LIMIT_AGENT_IDLE_MS: '5', GRAPHSTEAD_LIMIT_STREAMS: '7', OTHER: 'x' };
  const limits = makeLimits({ streams: 9 }, environment);
  expect([limits.agentIdleMs, limits.streams, limits.queryMs]).toEqual([5, 9, DEFAULT_LIMITS.queryMs]);
});

it('refuse what the service could not begin with', () => {
  const name = 'GRAPHSTEAD_LIMIT_HOST_MESSAGE_BYTES';
  expect(() => makeLimits({}, { [name]: '300' })).toThrow(`${name} must be at least 4096, got 300`);
  expect(() => makeLimits({ hostMessageBytes: 4_095 })).toThrow('hostMessageBytes must be at least 4096');
  expect(makeLimits({ hostMessageBytes: 4_096 }).hostMessageBytes).toBe(4_096);
});

it('refuse what no timer, table or time could hold', () => {
  const most = 2 ** 31 - 1;
  expect(() => makeLimits({ messageMs: most + 1 })).toThrow(`messageMs must be at most ${most}, got ${most + 1}`);
  expect(() => makeLimits({ oracleKeys: 1e12, queryMs: most })).toThrow('oracleKeys must be at most');
  expect(() => makeLimits({ idempotencyHours: 1e9 })).toThrow('idempotencyHours must be at most');
  expect(makeLimits({ yieldMs: 0.5 }).yieldMs).toBe(0.5);
  expect(makeLimits({ messageMs: most, eventAgeMs: 1e12, answerBytes: 2 ** 53 - 1 }).eventAgeMs).toBe(1e12);
});

it('refuse a name that is none, wherever it stands, and a value that is no positive whole number', () => {
  expect(() => makeLimits({}, { GRAPHSTEAD_LIMIT_AGENT_IDEL_MS: '5' })).toThrow('GRAPHSTEAD_LIMIT_AGENT_IDEL_MS');
  expect(() => makeLimits({ nothing: 1 } as never)).toThrow('nothing');
  for (const text of ['0', '-1', 'many', '', '2.5', '1e400']) {
    expect(() => makeLimits({}, { GRAPHSTEAD_LIMIT_STREAMS: text })).toThrow('GRAPHSTEAD_LIMIT_STREAMS');
  }
  expect(() => makeLimits({}, { GRAPHSTEAD_LIMIT_QUERY_MS: '5s' })).toThrow(
    'GRAPHSTEAD_LIMIT_QUERY_MS must be a positive whole number, got "5s"',
  );
});
