import {
  getVariableValues,
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  valueFromAST,
} from 'graphql';
import { assert } from '../../../base/index.js';
import type { Filter } from '../../../dql/index.js';
import type { AuthAction, AuthRule, Field, ObjectType, UnionType } from '../../../sdl/index.js';
import { included } from '../collect.js';
import { type Demand, demandBelow, demandOf } from '../demand.js';
import { compileFilter, reaching } from '../filter.js';
import { type Claims, filterInput, type Scope } from '../scope.js';
import { and, call, NEVER, not, ofType, or, storedName, test } from '../syntax.js';
import { evaluateClaim, readClaim } from './claim.js';
import { claimNamed } from './claim-name.js';
import { ClaimMisfit } from './misfit.js';

/**
 * What a rule comes down to before any data is read. `unknown`: a claim that a graph rule names is missing, or does not fit; it denies,
 * and so does its negation. `isPartlyUnknown`: an alternative of the filter is, so that its negation is all unknown.
 */
type Verdict =
  | { readonly is: true | false | 'unknown' }
  | { readonly is: 'filter'; readonly filter: Filter; readonly isPartlyUnknown?: boolean };

const YES: Verdict = { is: true };
const NO: Verdict = { is: false };
const UNKNOWN: Verdict = { is: 'unknown' };

/**
 * What nodes of a type must pass for an action: undefined when all do, NEVER when none does. An interface or a union
 * asks each member's own rules.
 */
export function authFilter(scope: Scope, type: ObjectType | UnionType, action: AuthAction): Filter | undefined {
  if (!mayBeGuarded(scope, type, action)) return undefined;
  scope.plan.noteCaller(); // what is made for one whom no rule binds is not for others either
  if (!scope.authorized) return undefined;
  const key = `${type.name} ${action}`;
  if (!scope.rules.has(key)) scope.rules.set(key, computeFilter(scope, type, action));
  return scope.rules.get(key);
}

const guarded = new WeakMap<ObjectType | UnionType, Map<AuthAction, boolean>>();

/** `isGuarded`, looked up once: types stand as long as the definitions that they are of. */
function mayBeGuarded(scope: Scope, type: ObjectType | UnionType, action: AuthAction): boolean {
  let known = guarded.get(type);
  if (!known) guarded.set(type, (known = new Map()));
  let found = known.get(action);
  if (found === undefined) known.set(action, (found = isGuarded(scope, type, action)));
  return found;
}

/** Some rule may apply to nodes of the type for the action. */
function isGuarded(scope: Scope, type: ObjectType | UnionType, action: AuthAction): boolean {
  if (type.kind === 'union') return type.members.some((name) => isGuarded(scope, objectNamed(scope, name), action));
  if (rulesOf(scope, type, action).length > 0) return true;
  if (type.kind === 'object') return false;
  return type.members.some((name) => isGuarded(scope, objectNamed(scope, name), action));
}

function computeFilter(scope: Scope, type: ObjectType | UnionType, action: AuthAction): Filter | undefined {
  if (type.kind === 'object') return objectFilter(scope, type, action);
  return or(
    ...type.members.map((name) => {
      const member = objectNamed(scope, name);
      return and(test(ofType(member.storedName)), objectFilter(scope, member, action));
    }),
  );
}

function objectFilter(scope: Scope, type: ObjectType, action: AuthAction): Filter | undefined {
  const verdict = all(rulesOf(scope, type, action).map((rule) => evaluate(scope, rule)));
  if (verdict.is === 'filter') return verdict.filter;
  return verdict.is === true ? undefined : NEVER;
}

function objectNamed(scope: Scope, name: string): ObjectType {
  const type = scope.model.object(name);
  assert(type, `${name} is an object type`);
  return type;
}

/** Its own rule and those of its interfaces; all must hold. */
function rulesOf(scope: Scope, type: ObjectType, action: AuthAction): AuthRule[] {
  const owners = [type, ...type.interfaces.map((name) => objectNamed(scope, name))];
  return owners.flatMap((owner) => owner.auth?.[action] ?? []);
}

function all(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.some((verdict) => verdict.is === false)) return NO;
  if (verdicts.some((verdict) => verdict.is === 'unknown')) return UNKNOWN;
  const filter = and(...verdicts.map((verdict) => (verdict.is === 'filter' ? verdict.filter : undefined)));
  return fromFilter(filter, verdicts.some(isPartlyUnknown));
}

function any(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.some((verdict) => verdict.is === true)) return YES;
  const filters = verdicts.flatMap((verdict) => (verdict.is === 'filter' ? [verdict.filter] : []));
  const isUnknown = verdicts.some((verdict) => verdict.is === 'unknown' || isPartlyUnknown(verdict));
  if (filters.length > 0) return fromFilter(or(...filters), isUnknown);
  return isUnknown ? UNKNOWN : NO;
}

const isPartlyUnknown = (verdict: Verdict): boolean => verdict.is === 'filter' && verdict.isPartlyUnknown === true;

function negate(verdict: Verdict): Verdict {
  if (verdict.is === 'unknown' || isPartlyUnknown(verdict)) return UNKNOWN;
  if (verdict.is === 'filter') return fromFilter(not(verdict.filter));
  return verdict.is ? NO : YES;
}

function fromFilter(filter: Filter | undefined, leavesOpen = false): Verdict {
  if (filter === undefined) return YES;
  if (filter === NEVER) return leavesOpen ? UNKNOWN : NO;
  return { is: 'filter', filter, isPartlyUnknown: leavesOpen };
}

function evaluate(scope: Scope, rule: AuthRule): Verdict {
  switch (rule.kind) {
    case 'and':
      return all(rule.rules.map((each) => evaluate(scope, each)));
    case 'or':
      return any(rule.rules.map((each) => evaluate(scope, each)));
    case 'not':
      return negate(evaluate(scope, rule.rule));
    case 'rbac':
      return evaluateClaim(rule, scope.claims ?? {}) ? YES : NO;
    case 'graph':
      return graphRule(scope, rule);
  }
}

/** A rule is a query of the type: nodes that it would show, with everything it selects present, pass. */
function graphRule(scope: Scope, rule: Extract<AuthRule, { kind: 'graph' }>): Verdict {
  const claims = scope.claims ?? {};
  if (rule.variables.some((name) => (claimNamed(claims, name) ?? null) === null)) return UNKNOWN;
  const operation = rule.document.definitions.find(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  );
  assert(operation, 'a rule holds an operation');
  const variables = coerceClaims(scope, operation, claims);
  if (!variables) return UNKNOWN;
  const ofClaims = rule.variables.length > 0;
  const inside: Scope = { ...scope, variables, authorized: false, ofClaims, fragments: fragmentsOf(rule) };
  const root = operation.selectionSet.selections.find((node): node is FieldNode => node.kind === Kind.FIELD);
  assert(root, 'a rule queries a type');
  if (!included(inside, root)) return NO;
  try {
    return fromFilter(
      and(
        argumentFilter(inside, root, root.name.value.replace(/^(query|get)/, '')),
        selected(inside, root, typeOf(scope, root), demandOf(inside, root)),
      ),
    );
  } catch (error) {
    if (error instanceof ClaimMisfit) return UNKNOWN;
    throw error;
  }
}

function typeOf(scope: Scope, root: FieldNode): ObjectType {
  return objectNamed(scope, root.name.value.replace(/^(query|get)/, ''));
}

function fragmentsOf(rule: Extract<AuthRule, { kind: 'graph' }>): Scope['fragments'] {
  return Object.fromEntries(
    rule.document.definitions.flatMap((node) =>
      node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node]] : [],
    ),
  );
}

function coerceClaims(scope: Scope, operation: OperationDefinitionNode, claims: Claims): Claims | undefined {
  const definitions = operation.variableDefinitions ?? [];
  const given = definitions.flatMap(({ variable: { name }, type }) => {
    const claim = claimNamed(claims, name.value);
    return claim === undefined ? [] : [[name.value, readClaim(type, claim)]];
  });
  const coerced = getVariableValues(scope.schema, definitions, Object.fromEntries(given) as Record<string, unknown>);
  return coerced.errors ? undefined : coerced.coerced;
}

function argumentFilter(scope: Scope, node: FieldNode, typeName: string): Filter | undefined {
  const argument = node.arguments?.find((each) => each.name.value === 'filter');
  const input = filterInput(scope, typeName);
  if (!argument || !input) return undefined;
  const value = valueFromAST(argument.value, input, scope.variables as Record<string, unknown>);
  return value === undefined ? NEVER : compileFilter(scope, input, value);
}

type Selected = { readonly selectionSet?: SelectionSetNode };

/**
 * Everything selected is there, and what a @cascade names besides: what the same query with @cascade would keep.
 * @param inherited what levels below are asked for
 */
function selected(
  scope: Scope,
  node: Selected,
  type: ObjectType,
  demand?: Demand,
  inherited = demand,
): Filter | undefined {
  const parts = (demand ?? []).map((name) => present(type.field(name)));
  for (const child of node.selectionSet?.selections ?? []) {
    if (!included(scope, child)) continue;
    if (child.kind === Kind.FIELD) {
      const field = type.field(child.name.value);
      parts.push(field?.role === 'edge' ? edge(scope, child, field, inherited) : present(field));
      continue;
    }
    const fragment = child.kind === Kind.INLINE_FRAGMENT ? child : scope.fragments[child.name.value];
    if (!fragment) continue;
    const condition = fragment.typeCondition?.name.value;
    const target = condition ? objectNamed(scope, condition) : type;
    const isOwn = target === type || type.interfaces.includes(target.name);
    parts.push(
      and(isOwn ? undefined : test(ofType(target.storedName)), selected(scope, fragment, target, demand, inherited)),
    );
  }
  return and(...parts);
}

/** The node holds a value of the field; an ID, and what is not stored, asks for nothing. */
const present = (field: Field | undefined): Filter | undefined =>
  field?.storage && test(call('has', storedName(field.storage), []));

function edge(scope: Scope, node: FieldNode, field: Field, demand: Demand | undefined): Filter {
  const target = scope.model.types.get(field.type.name);
  const asked = demandOf(scope, node) ?? demandBelow(scope, demand);
  const below =
    target?.kind === 'union'
      ? selectedMembers(scope, node, asked)
      : target?.kind === 'object' || target?.kind === 'interface'
        ? selected(scope, node, target, asked)
        : undefined;
  return reaching(scope, field, field.type.name, and(argumentFilter(scope, node, field.type.name), below));
}

/** Below a union: a node of one of the members that the rule selects from, with what it selects there. Names of fields mean none of a union. */
function selectedMembers(scope: Scope, node: Selected, inherited: Demand | undefined): Filter | undefined {
  const alternatives: (Filter | undefined)[] = [];
  for (const child of node.selectionSet?.selections ?? []) {
    if (child.kind === Kind.FIELD || !included(scope, child)) continue;
    const fragment = child.kind === Kind.INLINE_FRAGMENT ? child : scope.fragments[child.name.value];
    const condition = fragment?.typeCondition && scope.model.object(fragment.typeCondition.name.value);
    if (!fragment) continue;
    const below = (type: ObjectType) => selected(scope, fragment, type, undefined, inherited);
    if (condition) alternatives.push(and(test(ofType(condition.storedName)), below(condition)));
    else alternatives.push(selectedMembers(scope, fragment, inherited));
  }
  return alternatives.length === 0 ? undefined : or(...alternatives);
}
