import { type GraphQLField, type GraphQLObjectType, getNullableType, isListType, isNonNullType } from 'graphql';
import { assert, GraphsteadError, groupBy, type JsonWriter, type Steps } from '../../base/index.js';
import type { GraphReader } from '../../graph/index.js';
import type { Field } from '../../sdl/index.js';
import { decodeValue, valueText } from '../../values/index.js';
import { authFilter } from './auth/filter.js';
import { parseUid } from './filter.js';
import { type Bound, boundLevel, rootRow, runPlan } from './query.js';
import { type Request, type RootField, scopeOf, type Written } from './request.js';
import { argumentsOf } from './argument.js';
import { keyField, keyText, type Representation, requiredOf, type Told, typeNameOf } from './representation.js';
import { compileRoot } from './selection.js';
import { SelectionList } from './selection-list.js';
import { and, block, call, literal, NEVER, ofType, ofUids, select, storedName, test } from './syntax.js';
import { nodeInSteps, valueAt, writeNode, type WriteScope } from './write.js';
import { writtenOf } from './written-ahead.js';

type Definition = GraphQLField<unknown, unknown>;

/** Nodes of one type, by the text of their key. */
interface Found extends Bound {
  readonly uids: ReadonlyMap<string, number>;
}

/** `_entities`: one entry a representation, in their order; null for one that is not there. */
export async function entitiesField(
  request: Request,
  field: RootField,
  definition: Definition,
  reader: GraphReader,
): Promise<Written> {
  const args = argumentsOf(scopeOf(request, reader), definition, field.nodes[0]);
  const representations = args.representations as readonly Representation[];
  const byType = groupBy(representations, typeNameOf);
  const found = new Map<string, Found | undefined>();
  for (const [name, group] of byType) found.set(name, await find(request, field, name, group, reader));
  const list = getNullableType(definition.type);
  const itemNonNull = isListType(list) && isNonNullType(list.ofType);
  const most = Math.max(1, ...[...found.values()].map((group) => group?.level.most ?? 1));
  return writtenOf(request, representations.length * most, (out, isLong) =>
    entitiesInSteps(request, representations, found, itemNonNull, out, field.key, isLong),
  );
}

function* entitiesInSteps(
  request: Request,
  representations: readonly Representation[],
  found: ReadonlyMap<string, Found | undefined>,
  itemNonNull: boolean,
  out: JsonWriter,
  key: string,
  isLong: boolean,
): Steps<boolean> {
  out.byte(0x5b);
  for (let i = 0; i < representations.length; i++) {
    if (isLong) yield;
    if (i > 0) out.byte(0x2c);
    const name = typeNameOf(representations[i]);
    const group = found.get(name);
    const type = request.engine.model.object(name);
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

async function find(
  request: Request,
  field: RootField,
  typeName: string,
  group: readonly Representation[],
  reader: GraphReader,
): Promise<Found | undefined> {
  const type = request.engine.model.object(typeName);
  const output = request.engine.schema.getType(typeName) as GraphQLObjectType | undefined;
  if (!type || !output) {
    throw new GraphsteadError('INVALID_GRAPHQL', `_entities: there is no type "${typeName}"`, {
      fix: 'Give each representation the __typename of a type with @key.',
    });
  }
  const key = keyField(type);
  const told = new Map<string, Told>();
  for (const each of group) told.set(keyText(type, each), requiredOf(type, output, each));
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
