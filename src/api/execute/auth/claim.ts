import type { AuthRule } from '../../../sdl/index.js';
import { compilePattern } from '../../../values/index.js';
import type { Claims } from '../scope.js';

type ClaimRule = Extract<AuthRule, { kind: 'rbac' }>;

/** A rule over one claim. A claim that is a list passes when one of its members does; a missing one never does. */
export function evaluateClaim(rule: ClaimRule, claims: Claims): boolean {
  const claim = claims[rule.variable];
  if (claim === undefined || claim === null) return false;
  return (Array.isArray(claim) ? claim : [claim]).some((value: unknown) => matches(rule, value));
}

function matches(rule: ClaimRule, claim: unknown): boolean {
  if (rule.operator === 'in') return (rule.value as readonly unknown[]).some((value) => same(claim, value));
  if (rule.operator === 'regexp') return typeof claim === 'string' && patternOf(rule).test(claim);
  return same(claim, rule.value);
}

/** Claims are JSON: lists and objects are compared by what they hold, and a number never equals its text. */
function same(claim: unknown, value: unknown): boolean {
  if (typeof claim !== 'object' || typeof value !== 'object' || claim === null || value === null)
    return claim === value;
  if (Array.isArray(claim) !== Array.isArray(value)) return false;
  const entries = Object.entries(claim);
  const other = value as Readonly<Record<string, unknown>>;
  if (entries.length !== Object.keys(other).length) return false;
  return entries.every(([key, held]) => Object.hasOwn(other, key) && same(held, other[key]));
}

function patternOf(rule: ClaimRule) {
  const text = String(rule.value);
  const match = /^\/(.*)\/([a-z]*)$/s.exec(text);
  return match ? compilePattern(match[1], match[2]) : compilePattern(text, '');
}
