import { describe, expect, it } from 'vitest';
import { defaultNames } from '../../../base/index.js';
import { loadModel } from '../../../sdl/index.js';
import { evaluateClaim } from './claim.js';

function ruleOf(rule: string) {
  const model = loadModel(`type Doc @auth(query: {rule: ${JSON.stringify(rule)}}) { title: String }`, {
    names: defaultNames,
  });
  const query = model.object('Doc')?.auth?.query;
  if (query?.kind !== 'rbac') throw new Error('no rule over a claim');
  return (USER: unknown) => evaluateClaim(query, { USER });
}

describe('rules over claims', () => {
  it('tell numbers past 2^53 from their neighbours', () => {
    const one = ruleOf('{$USER: {eq: 1246879976444232435}}');
    // as tokens are read
    expect(one('1246879976444232435')).toBe(true);
    expect(one('1246879976444232436')).toBe(false);
    const some = ruleOf('{$USER: {in: [7, 1246879976444232435]}}');
    expect(some(['1246879976444232435'])).toBe(true);
    expect(some('1246879976444232436')).toBe(false);
    expect([some(7), some('7')]).toEqual([true, false]);
  });
});
