import {
  type ArgumentNode,
  type ASTNode,
  type ASTVisitor,
  getNamedType,
  GraphQLError,
  GraphQLObjectType,
  GraphQLSchema,
  isInterfaceType,
  isObjectType,
  Kind,
  validate,
  type ValidationContext,
} from 'graphql';
import { GraphsteadError, type Steps } from '../../base/index.js';
import { type AuthAction, type AuthRule, isAbout, type ObjectType, placeInString } from '../../sdl/index.js';
import { compilePattern } from '../../values/index.js';
import { cascadeNamesFields, namesOf } from './cascade-names.js';
import type { Context } from './context.js';
import { REQUEST_DIRECTIVES } from './directive.js';
import { withFixes } from './document-fix.js';
import { DOCUMENT_RULES } from './document-rules.js';
import { fieldMeaning } from './meaning.js';
import { patternParts } from './pattern.js';
import { typeQueries } from './query.js';

type Definition = Parameters<typeof fieldMeaning>[0];

export type GraphRule = Extract<AuthRule, { kind: 'graph' }>;

const ACTIONS: readonly AuthAction[] = ['query', 'add', 'update', 'delete', 'password'];

/** The queries that a rule is made of. */
export function graphRules(rule: AuthRule): GraphRule[] {
  if (rule.kind === 'graph') return [rule];
  if (rule.kind === 'not') return graphRules(rule.rule);
  return rule.kind === 'rbac' ? [] : rule.rules.flatMap(graphRules);
}

/**
 * Rules of @auth that are queries, checked against the generated types. A rule may use its type's query though
 * @generate keeps it from clients. What a rule misses of the definitions because it was `left` out is no mistake of it.
 */
export function* checkAuthRules(context: Context, left: ReadonlySet<string>): Steps<GraphsteadError[]> {
  const rules = context.model.objects.flatMap((type) =>
    ACTIONS.flatMap((action) => {
      const rule = type.auth?.[action];
      return rule ? graphRules(rule).map((graph) => ({ type, graph })) : [];
    }),
  );
  if (rules.length === 0) return [];
  const types = [...new Set(rules.map(({ type }) => type))];
  const schema = ruleSchema(context, types);
  const mistakes: GraphsteadError[] = [];
  for (const { type, graph } of rules) {
    yield;
    const errors = validate(schema, graph.document, [...DOCUMENT_RULES, cascadeNamesFields, decides, holdsPatterns]);
    const told = errors.filter((error) => !isAbout(error.message, left));
    const fixed = withFixes(told, graph.document, schema);
    mistakes.push(...fixed.map((error) => notAQuery(context.model.text, type, graph, error)));
  }
  return mistakes;
}

function notAQuery(
  text: string,
  { name }: ObjectType,
  { position }: GraphRule,
  { message, locations, extensions }: GraphQLError,
): GraphsteadError {
  const { fix } = extensions;
  return new GraphsteadError('INVALID_SDL', `@auth on ${name}: the rule is not a valid query: ${message}`, {
    position: locations ? placeInString(text, position, locations[0]) : position,
    fix: typeof fix === 'string' ? fix : `Query ${name} by what its generated filter and fields offer.`,
    details: { rule: 'auth-query' },
  });
}

/**
 * A rule for the texts of rules: what stands there decides. A rule passes the nodes that hold what it selects; values
 * that are not stored, aggregates and pages say nothing of that, and would be passed over.
 */
function decides(context: ValidationContext): ASTVisitor {
  const refuse = (message: string, node: ASTNode): void =>
    context.reportError(new GraphQLError(message, { nodes: node }));
  return {
    Directive(node) {
      const type = getNamedType(context.getType());
      for (const item of namesOf(node)) {
        if (item.kind === Kind.VARIABLE)
          refuse('@cascade takes names from a variable, where a rule has its own.', item);
        if (item.kind !== Kind.STRING || !(isObjectType(type) || isInterfaceType(type))) continue;
        const reason = undecided(type.getFields()[item.value], item.value);
        if (reason !== undefined) refuse(reason, item);
      }
    },
    Field(node) {
      const definition = context.getFieldDef();
      const reason = undecided(definition, node.name.value);
      if (reason !== undefined) refuse(reason, node);
      const meaning = definition && fieldMeaning(definition);
      const isRoot = context.getParentType()?.name === 'Query';
      if (!isRoot && !(meaning?.op === 'field' && meaning.field.role === 'edge')) return;
      for (const argument of node.arguments ?? []) {
        if (!isPage(argument, isRoot)) continue;
        refuse(`"${argument.name.value}" makes a page, and a rule is asked of each node by itself.`, argument);
      }
    },
  };
}

/** A rule for the texts of rules: the patterns that stand there can be read. Those of claims are looked at as they come. */
function holdsPatterns(context: ValidationContext): ASTVisitor {
  return {
    ObjectField({ name, value }) {
      if (name.value !== 'regexp' || value.kind !== Kind.STRING) return;
      const mistake = patternMistake(value.value);
      if (mistake) context.reportError(new GraphQLError(mistake, { nodes: value }));
    },
  };
}

function patternMistake(text: string): string | undefined {
  try {
    const { source, flags } = patternParts(text);
    compilePattern(source, flags);
    return undefined;
  } catch (error) {
    if (error instanceof GraphsteadError) return error.message;
    throw error;
  }
}

/** Why asking for a field says nothing of a node; undefined where it does. */
function undecided(definition: Definition | null | undefined, name: string): string | undefined {
  const meaning = definition && fieldMeaning(definition);
  if (meaning?.op === 'edgeAggregate') return `"${name}" is there for every node and decides nothing.`;
  if (meaning?.op !== 'field' || meaning.field.storage || meaning.field.role === 'id') return undefined;
  return `"${name}" is not stored, and rules are decided by what is.`;
}

/** The first few of an edge are there where one is, so that asking for them says no more. */
function isPage({ name, value }: ArgumentNode, isRoot: boolean): boolean {
  if (name.value !== 'first') return name.value === 'offset';
  return isRoot || value.kind !== Kind.INT || Number(value.value) < 1;
}

function ruleSchema(context: Context, types: readonly ObjectType[]): GraphQLSchema {
  const query = new GraphQLObjectType({
    name: 'Query',
    fields: () =>
      Object.assign(
        {},
        ...types.map((type) => typeQueries(context, { ...type, generate: { ...type.generate, query: true } })),
      ),
  });
  return new GraphQLSchema({ query, types: [...context.types], directives: REQUEST_DIRECTIVES, assumeValid: true });
}
