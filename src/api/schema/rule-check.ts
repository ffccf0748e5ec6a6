import { GraphQLObjectType, GraphQLSchema, validate } from 'graphql';
import { GraphsteadError } from '../../base/index.js';
import { type AuthAction, type AuthRule, isAbout, type ObjectType } from '../../sdl/index.js';
import type { Context } from './context.js';
import { REQUEST_DIRECTIVES } from './directive.js';
import { typeQueries } from './query.js';

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
export function checkAuthRules(context: Context, left: ReadonlySet<string>): GraphsteadError[] {
  const rules = context.model.objects.flatMap((type) =>
    ACTIONS.flatMap((action) => {
      const rule = type.auth?.[action];
      return rule ? graphRules(rule).map((graph) => ({ type, graph })) : [];
    }),
  );
  if (rules.length === 0) return [];
  const types = [...new Set(rules.map(({ type }) => type))];
  const schema = ruleSchema(context, types);
  return rules.flatMap(({ type, graph }) =>
    validate(schema, graph.document)
      .filter((error) => !isAbout(error.message, left))
      .map(
        (error) =>
          new GraphsteadError('INVALID_SDL', `@auth on ${type.name}: the rule is not a valid query: ${error.message}`, {
            position: graph.position,
            fix: `Query ${type.name} by what its generated filter and fields offer.`,
            details: { rule: 'auth-query' },
          }),
      ),
  );
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
