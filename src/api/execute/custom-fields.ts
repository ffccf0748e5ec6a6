import { addTo, assert } from '../../base/index.js';
import { placeOf } from '../../dql/index.js';
import { type GraphReader, hexUid, type UidList } from '../../graph/index.js';
import type { Field } from '../../sdl/index.js';
import { decodeValue } from '../../values/index.js';
import type { AnswerOf } from './complete.js';
import type { CustomResult } from './custom-logic.js';
import { answersBelow, type Returned, sameNodes } from './custom-values.js';
import { geometryObject } from './geo.js';
import type { ConcretePlan, CustomPlan, FieldPlan, ObjectPlan } from './plan.js';
import type { Told } from './representation.js';
import { customScopeOf, type Request, sharedBy } from './request.js';
import { plain } from './scalar.js';
import { type Level, valueAt } from './write.js';

type Results = Map<CustomPlan, Map<number, CustomResult>>;

/** One @custom field of a level, and the nodes it is asked of: those of an interface's field may be of several types. */
interface Asked {
  /** of the first of the types; the others ask the same */
  readonly field: FieldPlan;
  readonly custom: CustomPlan;
  readonly of: { readonly plan: CustomPlan; readonly uids: readonly number[] }[];
  readonly parents: Record<string, unknown>[];
}

interface ResolvedFields {
  readonly custom: ReadonlyMap<CustomPlan, ReadonlyMap<number, CustomResult>>;
  /** of the custom fields inside what those returned */
  readonly answerOf?: AnswerOf;
}

/**
 * Calls the custom logic of every @custom field under a level, one call a field for all its parents. Levels below are
 * reached through edges; the custom fields inside what they returned follow in stages of their own.
 * @param told by uid of a root, values of the fields that its custom fields require of another service
 */
export async function resolveCustomFields(
  request: Request,
  level: Level,
  roots: UidList,
  reader: GraphReader,
  told?: ReadonlyMap<number, Told>,
): Promise<ResolvedFields> {
  const results: Results = new Map();
  const shared = sharedBy(request);
  const calls: Promise<Returned[]>[] = [];
  const seen = new Set<Level>();
  const visit = (at: Level, uids: UidList): void => {
    if (seen.has(at)) return;
    seen.add(at);
    const byType = new Map<string, number[]>();
    if (hasCustom(at)) {
      for (const uid of new Set(uids)) {
        const concrete = at.concrete(uid);
        const same = concrete && byType.get(concrete.name);
        if (same) same.push(uid);
        else if (concrete) byType.set(concrete.name, [uid]);
      }
    }
    const asked = new Map<string, Asked[]>();
    for (const concrete of concretesOf(at.plan)) {
      for (const field of concrete.fields) {
        const { source } = field;
        if (source.kind === 'edge') visit(at.deeper(source.slot, source.object), at.columns[source.slot].dest);
        else if (source.kind === 'custom') {
          const uids = byType.get(concrete.name) ?? [];
          if (uids.length === 0) continue;
          const parents = uids.map((uid) => ({
            ...parentOf(at, source.custom, uid),
            ...(at === level ? requiredBy(source.custom.field, told?.get(uid)) : {}),
          }));
          const { of, parents: all } = askedOf(asked, field, source.custom);
          of.push({ plan: source.custom, uids });
          for (const parent of parents) all.push(parent);
        }
      }
    }
    for (const one of [...asked.values()].flat()) calls.push(callField(request, one, reader, shared, results));
  };
  visit(level, roots);
  if (calls.length === 0) return { custom: results };
  const returned = (await Promise.all(calls)).flat();
  return { custom: results, answerOf: await answersBelow(request, returned, async () => reader, shared) };
}

/** Nodes of an interface may be of none of its types. */
function concretesOf({ types, fallback }: ObjectPlan): Iterable<ConcretePlan> {
  return fallback ? [...types.values(), fallback] : types.values();
}

function hasCustom(level: Level): boolean {
  for (const concrete of concretesOf(level.plan)) {
    if (concrete.fields.some((field) => field.source.kind === 'custom')) return true;
  }
  return false;
}

/**
 * That of another type already, where both have the field and what it needs from one interface, and the client asks the
 * same of it.
 */
function askedOf(asked: Map<string, Asked[]>, field: FieldPlan, custom: CustomPlan): Asked {
  const key = [custom, ...custom.needs].map((one) => `${one.field.owner}.${one.field.name}`).join();
  const known = asked.get(key)?.find((one) => sameNodes(one.field.nodes, field.nodes));
  if (known) return known;
  const added: Asked = { field, custom, of: [], parents: [] };
  addTo(asked, key, added);
  return added;
}

async function callField(
  request: Request,
  { field, custom, of, parents }: Asked,
  reader: GraphReader,
  shared: object,
  results: Results,
): Promise<Returned[]> {
  const { engine } = request;
  if (!engine.custom) return [];
  const answers = await engine.custom.fields({
    ...customScopeOf(request, field.nodes, shared, async () => reader),
    type: custom.type,
    field: custom.field,
    parents,
  });
  assert(answers.length === parents.length, 'custom logic answers every parent');
  let from = 0;
  for (const { plan, uids } of of) {
    results.set(plan, new Map(uids.map((uid, i) => [uid, answers[from + i]])));
    from += uids.length;
  }
  return answers.map(({ value }) => ({ type: field.type, nodes: field.nodes, value }));
}

function parentOf(level: Level, plan: CustomPlan, uid: number): Record<string, unknown> {
  const parent: Record<string, unknown> = {};
  for (const { field, slot } of plan.needs) {
    if (slot === 'id') {
      parent[field.name] = hexUid(uid);
      continue;
    }
    const column = level.columns[slot];
    const values = field.type.list ? valuesOf(column, uid) : undefined;
    const single = values ? undefined : valueAt(column, uid);
    if (values) parent[field.name] = values;
    else if (single) parent[field.name] = jsonValue(single);
  }
  return parent;
}

function requiredBy(field: Field, told: Told = {}): Told {
  return Object.fromEntries(Object.entries(told).filter(([name]) => field.requires.includes(name)));
}

function valuesOf(column: Level['columns'][number], uid: number): unknown[] {
  return (column.valueLists?.[placeOf(column.source, uid)] ?? []).map(jsonValue);
}

function jsonValue(bytes: Uint8Array): unknown {
  const value = decodeValue(bytes);
  return value.type === 'geo' ? (geometryObject(value.value) ?? null) : plain(bytes);
}
