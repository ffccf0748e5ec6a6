import { assert, GraphsteadError } from '../../base/index.js';
import { Pace } from '../../dql/index.js';
import type { GraphReader, UidList } from '../../graph/index.js';
import type { Field, ObjectType } from '../../sdl/index.js';
import { decodeValue } from '../../values/index.js';
import type { RootMeaning } from '../schema/meaning.js';
import { authFilter } from './auth/filter.js';
import { rootOf, typeTests } from './filter.js';
import { matching } from './mutate/matching.js';
import { boundLevel, identity, listWritten, rootRow, runPlan, writeEmpty } from './query.js';
import { type DefinedField, type Request, scopeOf, type Written } from './request.js';
import { type Scope, selectedType } from './scope.js';
import { argumentsOf } from './argument.js';
import { compileRoot } from './selection.js';
import { and, block, childrenOf, NEVER, ofType, ofUids, test } from './syntax.js';

type Input = Readonly<Record<string, unknown>>;
type Meaning = Extract<RootMeaning, { op: 'similarById' | 'similarByEmbedding' }>;

/** querySimilarTById and querySimilarTByEmbedding: nearest first. */
export async function similarField(
  request: Request,
  field: DefinedField,
  meaning: Meaning,
  reader: GraphReader,
): Promise<Written> {
  const { type } = meaning;
  const scope = scopeOf(request, reader);
  const args = argumentsOf(scope, field);
  const embedding = type.field(String(args.by));
  assert(embedding?.storage, `${String(args.by)} is an embedding`);
  request.reads?.names.add(embedding.storage.predicate);
  const vector =
    meaning.op === 'similarById'
      ? await vectorOf(request, scope, type, embedding, args, field.definition.name, reader)
      : Float32Array.from(args.vector as readonly number[]);
  // a filter or a rule afterwards would leave few of the nearest, or none, where others are nearer
  const isLimited = (args.filter ?? undefined) !== undefined || authFilter(scope, type, 'query') !== undefined;
  const among = isLimited ? new Set(await matching(request, reader, type, args.filter, 'query')) : undefined;
  const nearest = vector && among?.size !== 0 ? await search(request, embedding, vector, args, reader, among) : [];
  const distances = new Map(nearest.map(({ uid, distance }) => [uid, distance]));
  if (distances.size === 0) return { write: writeEmpty };
  const composite = selectedType(field.definition);
  const { plan, directives } = compileRoot(scope, composite, type, field.nodes);
  const shown = block({
    name: field.key,
    root: ofUids([...distances.keys()].sort((a, b) => a - b)),
    filter: test(ofType(type.storedName)),
    directives,
    children: childrenOf(plan.selections),
  });
  const node = await runPlan(request, scope, shown, reader);
  const bound = await boundLevel(request, field.key, plan, node, reader);
  const row = byDistance(rootRow(node), distances);
  const near = { level: bound.level, scope: { ...bound.scope, distances } };
  return listWritten(request, near, row, field.definition.type);
}

function byDistance(uids: UidList, distances: ReadonlyMap<number, number>): UidList {
  return Float64Array.from(uids).sort((a, b) => (distances.get(a) ?? 0) - (distances.get(b) ?? 0) || a - b);
}

async function search(
  request: Request,
  field: Field,
  vector: Float32Array,
  args: Input,
  reader: GraphReader,
  among: ReadonlySet<number> | undefined,
): Promise<readonly { readonly uid: number; readonly distance: number }[]> {
  const predicate = field.storage && reader.schema.predicate(field.storage.predicate);
  const k = Number(args.topK);
  if (!predicate || k === 0) return [];
  if (!Number.isInteger(k) || k < 0) {
    throw new GraphsteadError('INVALID_VALUE', `topK is ${k}, it must be a whole number of at least 1`, {
      fix: 'Say how many nodes you want: topK: 10.',
    });
  }
  const threshold = args.distance_threshold;
  const pace = new Pace(request.run);
  return await reader.similar(predicate, vector, k, {
    pause: () => pace.pause(),
    ...(among ? { filter: (uid) => among.has(uid) } : {}),
    ...(args.ef ? { ef: Number(args.ef) } : {}),
    ...(threshold === undefined || threshold === null ? {} : { distanceThreshold: Number(threshold) }),
  });
}

/** The embedding of the node that the arguments name; undefined when it has none, or may not be seen. */
async function vectorOf(
  request: Request,
  scope: Scope,
  type: ObjectType,
  field: Field,
  args: Input,
  name: string,
  reader: GraphReader,
): Promise<Float32Array | undefined> {
  const filter = and(identity(scope, type, args, name), authFilter(scope, type, 'query'));
  if (filter === NEVER) return undefined;
  const root = rootOf(scope, typeTests(scope, type.name), filter);
  const shown = block({
    name,
    root: root.call,
    ...(root.filter ? { filter: root.filter } : {}),
    children: childrenOf([]),
  });
  const node = await runPlan(request, scope, shown, reader);
  const predicate = field.storage && reader.schema.predicate(field.storage.predicate);
  if (!predicate || rootRow(node).length === 0) return undefined;
  const bytes = (await reader.values(predicate, rootRow(node).slice(0, 1))).at(0);
  const value = bytes && decodeValue(bytes);
  return value?.type === 'float32vector' ? value.value : undefined;
}
