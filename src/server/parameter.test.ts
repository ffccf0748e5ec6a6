import { describe, expect, it } from 'vitest';
import { flag, startTimestamp, timeoutMs } from './parameter.js';

describe('parameters of the HTTP API', () => {
  it('durations are sums of numbers with units', () => {
    expect(timeoutMs({ timeout: '1m30s' })).toBe(90_000);
    expect(timeoutMs({ timeout: '500ms' })).toBe(500);
    expect(timeoutMs({})).toBeUndefined();
    expect(() => timeoutMs({ timeout: '5 parsecs' })).toThrow(/no duration/);
  });

  it('timestamps are whole numbers; 0 asks for a new transaction', () => {
    expect(startTimestamp({ startTs: '12' })).toBe(12);
    expect(startTimestamp({ startTs: '0' })).toBeUndefined();
    expect(() => startTimestamp({ startTs: '-3' })).toThrow(/no timestamp/);
    expect(() => startTimestamp({ startTs: '99999999999999999999' })).toThrow(/no timestamp/);
  });

  it('flags are true, false or bare', () => {
    expect(flag({ debug: '' }, 'debug')).toBe(true);
    expect(flag({ debug: 'false' }, 'debug')).toBe(false);
    expect(() => flag({ debug: 'maybe' }, 'debug')).toThrow(/debug/);
  });
});
