import {
  type ConstValueNode,
  type DocumentNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  parseConstValue,
  valueFromASTUntyped,
} from 'graphql';
import { parseJson, type Position } from '../base/index.js';
import { position } from './definition.js';
import type { AuthRule, RbacOperator } from './model.js';
import type { Problem } from './rule.js';
import { placeInString } from './string-place.js';

type Report = (problem: Problem) => void;

const KEYS = ['and', 'or', 'not', 'rule'];
const MAX_DEPTH = 50;
/** characters of one rule's text */
const MAX_TEXT = 20_000;
const RBAC = /^\{\s*(\$?\w+)\s*:\s*\{\s*(\w+)\s*:\s*([\s\S]*?)[\s,]*\}[\s,]*\}$/;
const EXAMPLE = 'Write it like {rule: "{$ROLE: {eq: \\"ADMIN\\"}}"}, or as a query of the type.';

/**
 * Reads one rule of @auth for a type: one of `and`, `or`, `not` and `rule`, the text of `rule` parsed.
 * Undefined where something was reported.
 */
export function readAuthRule(value: ConstValueNode, type: string, report: Report, depth = 0): AuthRule | undefined {
  const refuse = (message: string, fix: string): undefined => {
    report({ position: position({ loc: value.loc }), message: `@auth on ${type}: ${message}`, fix });
    return undefined;
  };
  if (depth > MAX_DEPTH) return refuse(`rules are nested deeper than ${MAX_DEPTH}`, 'Flatten them.');
  if (value.kind !== Kind.OBJECT) return refuse('a rule must be an object', EXAMPLE);
  if (value.fields.length !== 1 || !KEYS.includes(value.fields[0].name.value)) {
    return refuse('a rule has exactly one of and, or, not and rule', EXAMPLE);
  }
  const [{ name, value: inner }] = value.fields;
  if (name.value === 'rule') return readText(inner, type, report);
  if (name.value === 'not') {
    const rule = readAuthRule(inner, type, report, depth + 1);
    return rule && { kind: 'not', rule };
  }
  if (inner.kind !== Kind.LIST || inner.values.length === 0) {
    return refuse(`${name.value} needs a list of rules`, `Write ${name.value}: [{rule: "..."}, {rule: "..."}].`);
  }
  const rules = inner.values.map((item) => readAuthRule(item, type, report, depth + 1));
  if (rules.some((rule) => rule === undefined)) return undefined;
  return { kind: name.value as 'and' | 'or', rules: rules as AuthRule[] };
}

function readText(value: ConstValueNode, type: string, report: Report): AuthRule | undefined {
  const at = position({ loc: value.loc });
  const refuse: Refuse = (message, fix, inner) => {
    const place = inner && value.loc ? placeInString(value.loc.source.body, at, inner) : at;
    report({ position: place, message: `@auth on ${type}: ${message}`, fix });
    return undefined;
  };
  if (value.kind !== Kind.STRING) return refuse('rule must be a string', EXAMPLE);
  const text = value.value.trim();
  if (text === '') return refuse('the rule is empty', EXAMPLE);
  if (text.length > MAX_TEXT) return refuse(`the rule is longer than ${MAX_TEXT} characters`, 'Shorten it.');
  return text.startsWith('{') ? readRbac(text, refuse) : readGraph(value.value, type, at, refuse);
}

/** @param inner where the mistake stands in the rule's text */
type Refuse = (message: string, fix: string, inner?: Position) => undefined;

function readRbac(text: string, refuse: Refuse): AuthRule | undefined {
  const match = RBAC.exec(text);
  if (!match) return refuse(`\`${text}\` is not a rule`, fixOfName(text) ?? EXAMPLE);
  const [, variable, operator, written] = match;
  if (!variable.startsWith('$')) {
    return refuse(
      `${variable} is not a variable of the token`,
      `Write $${variable}: the claim's name with "$" before it.`,
    );
  }
  if (operator !== 'eq' && operator !== 'in' && operator !== 'regexp') {
    return refuse(`there is no operator ${operator}`, 'Use eq, in or regexp.');
  }
  const value = constant(written);
  const wrong = value === undefined ? `\`${written}\` is not a value` : misfit(operator, value);
  if (wrong !== undefined) return refuse(wrong, EXAMPLE);
  return { kind: 'rbac', variable: variable.slice(1), operator, value };
}

/**
 * A constant, written as JSON or as GraphQL does; bare words and variables are none. Integers past 2^53 are texts of
 * their digits, as those of claims are.
 */
function constant(written: string): unknown {
  const json = parseJson(written);
  if (json) return json.value;
  // not JSON: GraphQL's own form, with bare keys
  try {
    const node = parseConstValue(written);
    return node.kind === Kind.ENUM ? undefined : valueFromASTUntyped(node);
  } catch {
    return undefined;
  }
}

function misfit(operator: RbacOperator, value: unknown): string | undefined {
  if (value === null || (Array.isArray(value) && value.includes(null)))
    return `${operator} cannot be compared with null`;
  if (operator === 'in') return Array.isArray(value) ? undefined : 'in needs a list';
  if (operator === 'eq') return undefined;
  if (typeof value !== 'string') return 'regexp needs a string';
  try {
    new RegExp(value.replace(/^\/(.*)\/[a-z]*$/, '$1'));
    return undefined;
  } catch (error) {
    return `regexp has a pattern that cannot be read: ${(error as Error).message}`;
  }
}

function readGraph(text: string, type: string, at: Position, refuse: Refuse): AuthRule | undefined {
  const fix = `Write a query of ${type}: query($USER: String!) { query${type}(filter: {...}) { __typename } }.`;
  let document: DocumentNode;
  try {
    document = parse(text);
  } catch (error) {
    const isSyntax = error instanceof GraphQLError;
    const reason = isSyntax ? error.message : String(error);
    return refuse(
      `the rule cannot be parsed: ${reason}`,
      fixOfName(text) ?? fix,
      isSyntax ? error.locations?.[0] : undefined,
    );
  }
  const operations = document.definitions.filter(
    (d): d is OperationDefinitionNode => d.kind === Kind.OPERATION_DEFINITION,
  );
  const [operation] = operations;
  if (operations.length !== 1 || operation.operation !== OperationTypeNode.QUERY) {
    return refuse('a rule is one query', fix);
  }
  const [selection, ...others] = operation.selectionSet.selections;
  if (others.length > 0 || selection.kind !== Kind.FIELD || selection.name.value !== `query${type}`) {
    return refuse(`a rule of ${type} is a query of query${type} and nothing else`, fix);
  }
  const variables = (operation.variableDefinitions ?? []).map(({ variable }) => variable.name.value);
  return { kind: 'graph', document, variables, position: at };
}

/** A claim with a name that GraphQL cannot say is named by its look-alike. */
function fixOfName(text: string): string | undefined {
  const claim = /\$(\w+(?:[-.:/]+\w+)+)\s*:/.exec(text)?.[1];
  return (
    claim && `Name the claim "${claim}" as $${claim.replace(/\W/g, '_')}: a variable holds letters, digits and _ alone.`
  );
}
