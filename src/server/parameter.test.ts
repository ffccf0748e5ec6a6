import { describe, expect, it } from 'vitest';
import { duration, flag, timestamp } from './parameter.js';

describe('parameters of the HTTP API', () => {
  it('durations are sums of numbers with units', () => {
    expect(duration({ timeout: '1m30s' }, 'timeout')).toBe(90_000);
    expect(duration({ timeout: '500ms' }, 'timeout')).toBe(500);
    expect(duration({}, 'timeout')).toBeUndefined();
    expect(() => duration({ timeout: '5 parsecs' }, 'timeout')).toThrow(/no duration/);
  });

  it('timestamps are whole numbers; 0 asks for a new transaction', () => {
    expect(timestamp({ startTs: '12' }, 'startTs')).toBe(12);
    expect(timestamp({ startTs: '0' }, 'startTs')).toBeUndefined();
    expect(() => timestamp({ startTs: '-3' }, 'startTs')).toThrow(/no timestamp/);
    expect(() => timestamp({ startTs: '99999999999999999999' }, 'startTs')).toThrow(/no timestamp/);
  });

  it('flags are true, false or bare', () => {
    expect(flag({ debug: '' }, 'debug')).toBe(true);
    expect(flag({ debug: 'false' }, 'debug')).toBe(false);
    expect(() => flag({ debug: 'maybe' }, 'debug')).toThrow(/debug/);
  });
});
