import { Kind, type TypeNode } from 'graphql';
import { type AuthRule, isTime } from '../../../sdl/index.js';
import { compilePattern } from '../../../values/index.js';
import type { Claims } from '../scope.js';
import { claimNamed } from './claim-name.js';

type ClaimRule = Extract<AuthRule, { kind: 'rbac' }>;

/** A rule over one claim. A claim that is a list passes when one of its members does; a missing one never does. */
export function evaluateClaim(rule: ClaimRule, claims: Claims): boolean {
  const claim = claimNamed(claims, rule.variable);
  if (claim === undefined || claim === null) return false;
  return (Array.isArray(claim) ? claim : [claim]).some((value: unknown) => matches(rule, value));
}

function matches(rule: ClaimRule, claim: unknown): boolean {
  if (rule.operator === 'in') return (rule.value as readonly unknown[]).some((value) => same(claim, value));
  if (rule.operator === 'regexp') return typeof claim === 'string' && patternOf(rule).test(claim);
  return same(claim, rule.value);
}

/** Claims are JSON: lists and objects are compared by what they hold, and a number below 2^53 never equals its text. */
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

/** A claim as a variable of the type. Issuers of tokens often write numbers and truth values as text, or the reverse. */
export function readClaim(type: TypeNode, claim: unknown): unknown {
  if (type.kind === Kind.NON_NULL_TYPE) return readClaim(type.type, claim);
  if (type.kind === Kind.LIST_TYPE)
    return Array.isArray(claim)
      ? claim.map((each: unknown) => readClaim(type.type, each))
      : readClaim(type.type, claim);
  switch (type.name.value) {
    case 'Boolean':
      return claim === 'true' || claim === 'false' ? claim === 'true' : claim;
    case 'Int':
    case 'Float':
      return typeof claim === 'string' && NUMBER.test(claim) ? Number(claim) : claim;
    case 'String':
    case 'ID':
      return typeof claim === 'number' || typeof claim === 'boolean' ? String(claim) : claim;
    case 'DateTime':
      // text is converted where it is compared; a claim that is no time has to deny before that, as any other misfit does
      return typeof claim === 'string' && !isTime(claim) ? Number.NaN : claim;
    default:
      return claim;
  }
}

const NUMBER = /^-?\d+(\.\d+)?$/;
