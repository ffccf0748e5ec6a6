import { type GraphQLObjectType, getNullableType, isListType, isNonNullType } from 'graphql';
import { assert, GraphsteadError, groupBy, type JsonWriter, type Steps } from '../../base/index.js';
import type { GraphReader } from '../../graph/index.js';
import type { Field, ObjectType } from '../../sdl/index.js';
import { decodeValue, valueText } from '../../values/index.js';
import { authFilter } from './auth/filter.js';
import { parseUid } from './filter.js';
import { type Bound, boundLevel, rootRow, runPlan } from './query.js';
import { type DefinedField, type Request, type RootField, scopeOf, type Written } from './request.js';
import { argumentsOf } from './argument.js';
import { keyField, keyText, type Representation, requiredOf, type Told, typeNameOf } from './representation.js';
import { compileRoot } from './selection.js';
import { SelectionList } from './selection-list.js';
import { and, block, call, literal, NEVER, ofType, ofUids, select, storedName, test } from './syntax.js';
import { nodeInSteps, valueAt, writeNode, type WriteScope } from './write.js';
import { writtenOf } from './written-ahead.js';

/** Nodes of one type, by the text of their key. */
interface Found extends Bound {
  readonly uids: ReadonlyMap<string, number>;
}

/** `_entities`: one entry a representation, in their order; null for one that is not there. */
export async function entitiesField(request: Request, field: DefinedField, reader: GraphReader): Promise<Written> {
  const args = argumentsOf(scopeOf(request, reader), field);
  const representations = args.representations as readonly Representation[];
  const found = new Map<Representation, Found | undefined>();
  for (const [name, group] of groupBy(representations, typeNameOf)) {
    const { type, output } = entityType(request, name);
    for (const told of agreeing(type, output, group)) {
      const nodes = await find(request, field, type, output, told, reader);
      for (const each of told.representations) found.set(each, nodes);
    }
  }
  const list = getNullableType(field.definition.type);
  const itemNonNull = isListType(list) && isNonNullType(list.ofType);
  const most = Math.max(1, ...[...found.values()].map((group) => group?.level.most ?? 1));
  return writtenOf(request, representations.length * most, (out, isLong) =>
    entitiesInSteps(request, representations, found, itemNonNull, out, field.key, isLong),
  );
}

function* entitiesInSteps(
  request: Request,
  representations: readonly Representation[],
  found: ReadonlyMap<Representation, Found | undefined>,
  itemNonNull: boolean,
  out: JsonWriter,
  key: string,
  isLong: boolean,
): Steps<boolean> {
  out.byte(0x5b);
  for (let i = 0; i < representations.length; i++) {
    if (isLong) yield;
    if (i > 0) out.byte(0x2c);
    const group = found.get(representations[i]);
    const type = request.engine.model.object(typeNameOf(representations[i]));
    const uid = type && group?.uids.get(keyText(type, representations[i]));
    const start = out.length;
    if (group && uid !== undefined) {
      const scope: WriteScope = { ...group.scope, path: [key, i] };
      const { level } = group;
      if (isLong ? yield* nodeInSteps(scope, level, uid, out) : writeNode(scope, level, uid, out)) continue;
    }
    if (itemNonNull) return false;
    out.truncate(start);
    out.ascii('null');
  }
  out.byte(0x5d);
  return true;
}

function entityType(request: Request, name: string): { type: ObjectType; output: GraphQLObjectType } {
  const type = request.engine.model.object(name);
  const output = request.engine.schema.getType(name) as GraphQLObjectType | undefined;
  if (type && output) return { type, output };
  throw new GraphsteadError('INVALID_GRAPHQL', `_entities: there is no type "${name}"`, {
    fix: 'Give each representation the __typename of a type with @key.',
  });
}

/** What representations tell of their entities, by the text of the key. */
interface ToldByKey {
  readonly representations: Representation[];
  readonly byKey: Map<string, Told>;
}

/** The representations of a type, apart where two of one key tell different values of what a field requires. */
function agreeing(type: ObjectType, output: GraphQLObjectType, group: readonly Representation[]): ToldByKey[] {
  const all: ToldByKey[] = [];
  const places = new Map<string, Map<string, number>>();
  for (const each of group) {
    const key = keyText(type, each);
    const told = requiredOf(type, output, each);
    const text = JSON.stringify(told, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));
    const ofKey = places.get(key) ?? new Map<string, number>();
    places.set(key, ofKey);
    const place = ofKey.get(text) ?? ofKey.size;
    ofKey.set(text, place);
    const among = (all[place] ??= { representations: [], byKey: new Map() });
    among.representations.push(each);
    among.byKey.set(key, told);
  }
  return all;
}

async function find(
  request: Request,
  field: RootField,
  type: ObjectType,
  output: GraphQLObjectType,
  { byKey: told }: ToldByKey,
  reader: GraphReader,
): Promise<Found | undefined> {
  const key = keyField(type);
  const scope = scopeOf(request, reader);
  const rule = authFilter(scope, type, 'query');
  if (rule === NEVER) return undefined;
  const { plan, directives } = compileRoot(scope, output, type, field.nodes);
  const list = new SelectionList();
  const keySelection = key.storage ? select(storedName(key.storage)) : undefined;
  if (keySelection) list.slot('key', () => keySelection);
  const distinct = [...told.keys()];
  const root =
    key.role === 'id' ? ofUids(distinct.flatMap((value) => parseUid(value) ?? [])) : equalsAny(key, distinct);
  const filter = and(test(ofType(type.storedName)), rule);
  const shown = block({
    name: field.key,
    root,
    ...(filter ? { filter } : {}),
    directives,
    children: [...plan.selections, ...list.selections],
  });
  const node = await runPlan(request, scope, shown, reader);
  const column = keySelection && node.children.find((child) => child.syntax === keySelection);
  const textsOf = key.role === 'id' ? groupBy(distinct, parseUid) : undefined;
  const uids = new Map<string, number>();
  for (const uid of rootRow(node)) {
    const bytes = column && valueAt(column, uid);
    if (bytes) uids.set(valueText(decodeValue(bytes)), uid);
    else for (const value of textsOf?.get(uid) ?? []) uids.set(value, uid);
  }
  const toldOf = new Map([...uids].map(([value, uid]) => [uid, told.get(value) ?? {}]));
  const bound = await boundLevel(request, field.key, plan, node, reader, toldOf);
  return { ...bound, uids };
}

function equalsAny(key: Field, values: readonly string[]) {
  assert(key.storage, `${key.name} is stored`);
  return call(
    'eq',
    storedName(key.storage),
    values.map((value) => literal(value)),
  );
}
