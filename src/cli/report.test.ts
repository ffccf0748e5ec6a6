import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { report } from './report.js';

afterEach(() => vi.restoreAllMocks());

function told(error: unknown): string {
  const said = vi.spyOn(console, 'error').mockReturnValue();
  report(error, false);
  return said.mock.calls.flat().join('\n');
}

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe('report', () => {
  it('says who may not read which file, and what to do, in place of a stack', () => {
    const message = "EACCES: permission denied, open '/srv/app/app.json'";
    const text = told(Object.assign(new Error(message), { code: 'EACCES' }));
    expect(text).toMatch(
      /^CONFIG: EACCES: permission denied, open '\/srv\/app\/app.json'\n {2}fix: let .+ at that file/,
    );
  });

  it('shows the stack of what nobody foresaw', () => {
    expect(told(thrownBy(() => readFileSync('/')))).toContain('report.test.ts');
  });
});
