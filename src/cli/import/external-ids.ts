import { GraphsteadError } from '../../base/index.js';
import type { NodeReference, SubjectReference, Triple } from '../../dql/index.js';
import { convert, type ScalarType, type Value, valueText } from '../../values/index.js';
import { claimNodes } from './claim.js';
import type { NameMap } from './name-map.js';
import type { Language } from './target.js';
import { isUnnamed } from './triples.js';

interface ExternalIdOptions {
  readonly language: Language;
  /** as it is stored */
  readonly predicate: string;
  readonly nodes: NameMap;
  /** uids of the files are names too */
  readonly newUids: boolean;
}

/**
 * Finds the nodes of the files by their values of one predicate, in place of making them: what the files say of it, or else
 * the node's name, which becomes its value. So whatever was loaded before, or by an import that was stopped, is not made
 * a second time.
 */
export interface ExternalIds {
  /** Hears of all statements before any is loaded: a node's value may stand behind what else is said of it. Throws INVALID_MUTATION. */
  gather(triples: readonly Triple[]): void;
  /** Gives the nodes of the statements their uids. Throws INVALID_MUTATION, INVALID_REQUEST. */
  settle(triples: readonly Triple[]): Promise<void>;
}

/** Throws INVALID_REQUEST where nothing can be found by the predicate. */
export async function externalIds(options: ExternalIdOptions): Promise<ExternalIds> {
  const { language, predicate, nodes } = options;
  const type = await typeOf(language, predicate);
  const values = new Map<string, Value>();

  function gather(triples: readonly Triple[]): void {
    for (const { subject, predicate: said, object, position } of triples) {
      if (said !== predicate || object.kind !== 'literal' || object.lang !== '') continue;
      const name = nameOf(subject, options);
      if (name === undefined) continue;
      const value = convert(object.value, type);
      const before = values.get(name);
      if (before === undefined) values.set(name, value);
      else if (valueText(before) !== valueText(value)) throw twice(predicate, before, value, position);
    }
  }

  function idOf(name: string, position: Triple['position']): Value {
    const said = values.get(name);
    if (said !== undefined) return said;
    const bare = name.startsWith('_:') ? name.slice(2) : name;
    if (!isUnnamed(bare)) return convert({ type: 'string', value: bare }, type);
    throw new GraphsteadError('INVALID_MUTATION', `an object has neither a uid nor a value of ${predicate}`, {
      position,
      fix: `give it a value of ${predicate}, by which it is found, or a name: {"uid": "_:name"}`,
    });
  }

  async function settle(triples: readonly Triple[]): Promise<void> {
    const unknown = new Map<string, { readonly value: Value; readonly names: Set<string> }>();
    const take = (reference: NodeReference | SubjectReference, position: Triple['position']) => {
      const name = nameOf(reference, options);
      if (name === undefined || nodes.has(name)) return;
      const value = idOf(name, position);
      const entry = unknown.get(valueText(value)) ?? { value, names: new Set() };
      entry.names.add(name);
      unknown.set(valueText(value), entry);
    };
    for (const { subject, object, position } of triples) {
      take(subject, position);
      if (object.kind === 'blank' || object.kind === 'iri' || object.kind === 'uid') take(object, position);
    }
    const entries = [...unknown.values()];
    await nodes.reserve(entries.length);
    const wanted = entries.map(({ value }) => value);
    const uids = await claimNodes(wanted, { language, predicate, fresh: () => nodes.fresh() });
    for (const [i, { names }] of entries.entries()) for (const name of names) nodes.give(name, uids[i]);
  }

  return { gather, settle };
}

/** The name under which the node's uid is kept; undefined for what has its uid already. */
function nameOf(reference: NodeReference | SubjectReference, { newUids }: ExternalIdOptions): string | undefined {
  if (reference.kind === 'blank') return `_:${reference.name}`;
  if (reference.kind === 'iri') return reference.iri;
  return reference.kind === 'uid' && newUids ? `0x${reference.uid.toString(16)}` : undefined;
}

function twice(predicate: string, before: Value, value: Value, position: Triple['position']): GraphsteadError {
  const [one, other] = [before, value].map((each) => JSON.stringify(valueText(each)));
  return new GraphsteadError('INVALID_MUTATION', `the node has the ${predicate} ${one} already, and ${other} here`, {
    position,
    fix: `give each node one value of ${predicate}, by which it is found`,
  });
}

async function typeOf({ names, query, abort }: Language, predicate: string): Promise<ScalarType> {
  const { data, txn } = await query(`schema(pred: [<${names.shown(predicate)}>]) { type index }`);
  await abort(txn).catch(() => undefined);
  const [known] = (data['schema'] ?? []) as readonly { readonly type: string; readonly index?: boolean }[];
  if (known?.index === true) return known.type as ScalarType;
  const what = known === undefined ? 'is not declared' : 'has no index';
  throw new GraphsteadError('INVALID_REQUEST', `nodes cannot be found by ${predicate}: it ${what}`, {
    fix: `declare it, with --schema or at /alter: ${predicate}: string @index(hash) @upsert .`,
  });
}
