import { BREAK, type FieldNode, type GraphQLCompositeType, visit } from 'graphql';
import type { Directives } from '../../dql/index.js';
import type { Schema } from '../../graph/index.js';
import type { ObjectPlan } from './plan.js';
import type { Scope } from './scope.js';

/** A root field's selection with its @cascade, compiled. */
export interface RootPlan {
  readonly plan: ObjectPlan;
  readonly directives: Directives;
}

interface StillPlan extends RootPlan {
  readonly output: GraphQLCompositeType;
  readonly graph: Schema;
}

/** Parsed documents are kept by their text, so a field's node is the same for every request of one text. */
const plans = new WeakMap<FieldNode, StillPlan>();

/**
 * Compiles a selection once for all requests where nothing of a request goes into it: no variable below the field's own
 * arguments, no rule that asks who it is, no block of its own.
 */
export function compiledOnce(
  scope: Scope,
  output: GraphQLCompositeType,
  node: FieldNode,
  compile: () => RootPlan,
): RootPlan {
  const known = plans.get(node);
  if (known && known.output === output && known.graph === scope.graph) return known;
  const before = scope.plan.notes;
  const made = compile();
  if (scope.plan.notes === before && !readsVariables(scope, node)) {
    plans.set(node, { ...made, output, graph: scope.graph });
  }
  return made;
}

const reading = new WeakMap<FieldNode, boolean>();

function readsVariables({ fragments }: Scope, field: FieldNode): boolean {
  const known = reading.get(field);
  if (known !== undefined) return known;
  const seen = new Set<string>();
  let found = false;
  const search = (node: FieldNode | Scope['fragments'][string]): void => {
    visit(node, {
      Variable() {
        found = true;
        return BREAK;
      },
      FragmentSpread({ name: { value: name } }) {
        if (seen.has(name)) return;
        seen.add(name);
        if (fragments[name]) search(fragments[name]);
      },
    });
  };
  search({ ...field, arguments: [] });
  reading.set(field, found);
  return found;
}
