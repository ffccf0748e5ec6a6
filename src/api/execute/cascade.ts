import type { Directives, Selection } from '../../dql/index.js';
import type { Field, ObjectType, UnionType } from '../../sdl/index.js';
import { authFilter } from './auth/filter.js';
import type { Demand } from './demand.js';
import type { FieldPlan, ObjectPlan } from './plan.js';
import { namedType, type Scope } from './scope.js';
import type { RootPlan } from './still-plan.js';
import { cascading, childrenOf, select, storedName } from './syntax.js';

/** Asks for nothing, and keeps what the level above asks for from this one: no predicate has this name. */
const NOTHING: readonly string[] = Object.freeze(['']);

/** The plan of a level that must meet a demand: fields that are named and not asked for are read along. */
export function demanding(
  scope: Scope,
  type: ObjectType | UnionType,
  plan: ObjectPlan,
  demand: Demand | undefined,
): RootPlan {
  if (!demand) return { plan, directives: cascading(undefined) };
  if (demand.length === 0) return { plan, directives: { ...cascading(everything(plan)), ...byType(scope, plan) } };
  // a union has no fields of its own that could be named
  if (type.kind === 'union') return { plan, directives: cascading(NOTHING) };
  const fields = demand.flatMap((name) => type.field(name) ?? []);
  const uneven = scope.names.dgraph ? [] : fields.filter((field) => isUneven(plan, field));
  const missing = scope.names.dgraph ? [] : fields.filter((field) => field.storage && !isAsked(plan, field));
  const names = fields.flatMap((field) => demandedName(field) ?? []);
  const whole = missing.length + uneven.length === 0 ? plan : withAlso(plan, [...missing, ...uneven], scope);
  return {
    plan: whole,
    directives: {
      ...cascading(names.length > 0 ? names : NOTHING),
      ...(uneven.length > 0 ? { asked: namedByType(whole, fields) } : {}),
    },
  };
}

/** An edge that some types of an interface are asked for, each with a filter of its own, and others not. */
function isUneven(plan: ObjectPlan, field: Field): boolean {
  if (plan.typeSlot === -1 || field.role !== 'edge' || !isAsked(plan, field)) return false;
  const own = [...plan.types.values()].map(({ fields }) => edgesOf(plan, fields, field));
  return own.some((edges) => edges.length !== own[0].length || edges.some((edge, i) => edge !== own[0][i]));
}

/** What one type of a plan selects of an edge. */
function edgesOf({ selections }: ObjectPlan, fields: readonly FieldPlan[], field: Field): readonly Selection[] {
  return fields.flatMap(({ source }) => {
    const selection = source.kind === 'edge' ? selections[source.slot] : undefined;
    return selection && isOf(selection, field) ? [selection] : [];
  });
}

/** Of each type its own edges; the bare ones that are read along of a type that selects none. */
function namedByType(plan: ObjectPlan, fields: readonly Field[]): ReadonlyMap<string, readonly Selection[]> {
  const asked = new Map<string, readonly Selection[]>();
  for (const [name, { fields: own }] of plan.types) {
    asked.set(
      name,
      fields.flatMap((field) => {
        const edges = edgesOf(plan, own, field);
        if (edges.length > 0) return edges;
        const all = plan.selections.filter((each) => isOf(each, field));
        const along = all.filter((each) => !plan.asked?.includes(each));
        return along.length > 0 ? along : all;
      }),
    );
  }
  return asked;
}

/** Everything of a level means what the client asked for there; what is read along may be missing. */
function everything({ asked }: ObjectPlan): readonly string[] {
  if (!asked) return [];
  const names = asked.flatMap((each) => (each.kind === 'predicate' ? [`${each.reverse ? '~' : ''}${each.name}`] : []));
  return names.length > 0 ? names : NOTHING;
}

/** A node of an interface or a union is asked for what is selected of its own type; the peer asks each for all. */
function byType({ names }: Scope, { typeSlot, types, selections }: ObjectPlan): Pick<Directives, 'asked'> {
  if (typeSlot === -1 || names.dgraph) return {};
  const asked = new Map<string, readonly Selection[]>();
  for (const [name, { fields }] of types) {
    asked.set(
      name,
      fields.flatMap(({ source }) => ('slot' in source && source.kind !== 'aggregate' ? selections[source.slot] : [])),
    );
  }
  return { asked };
}

function demandedName({ role, storage }: Field): string | undefined {
  if (role === 'id') return 'uid';
  return storage && `${storage.reverse ? '~' : ''}${storage.predicate}`;
}

const isAsked = ({ selections }: ObjectPlan, field: Field): boolean => selections.some((each) => isOf(each, field));

function isOf(selection: Selection, { storage }: Field): boolean {
  return (
    selection.kind === 'predicate' &&
    !selection.directives.beside &&
    selection.name === storage?.predicate &&
    selection.reverse === storage.reverse
  );
}

function withAlso(plan: ObjectPlan, fields: readonly Field[], scope: Scope): ObjectPlan {
  const also = fields.flatMap((field) => selectionOf(field, scope) ?? []);
  return { ...plan, selections: [...plan.selections, ...also], asked: plan.asked ?? plan.selections };
}

function selectionOf({ storage, role, type }: Field, scope: Scope): Selection | undefined {
  if (!storage) return undefined;
  const name = storedName(storage);
  if (role !== 'edge') return select(name);
  const filter = authFilter(scope, namedType(scope, type.name) as ObjectType | UnionType, 'query');
  return select(name, { ...(filter ? { filter } : {}), children: childrenOf([]) });
}
