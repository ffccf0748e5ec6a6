import { type FieldNode, getDirectiveValues } from 'graphql';
import type { Scope } from './scope.js';

/** Fields that nodes of a level must have, by their names; none is named where everything asked for must be there. */
export type Demand = readonly string[];

/** What the @cascade of a field asks; undefined without it. */
export function demandOf(scope: Scope, node: FieldNode): Demand | undefined {
  if (!node.directives?.length) return undefined;
  const directive = scope.schema.getDirective('cascade');
  if (!directive) return undefined;
  const values = getDirectiveValues(directive, node, scope.variables as Record<string, unknown>);
  return values && ((values.fields as Demand | null | undefined) ?? []);
}

/** What a level below takes over. The peer hands names of fields down as names of predicates, which no other type has. */
export function demandBelow(scope: Scope, demand: Demand | undefined): Demand | undefined {
  return demand?.length && scope.names.dgraph ? undefined : demand;
}
