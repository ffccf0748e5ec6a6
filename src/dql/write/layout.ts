import type { Names } from '../../base/index.js';
import type { UidList } from '../../graph/index.js';
import type { ResultNode } from '../contract.js';
import type { Block, Selection } from '../syntax/index.js';
import { answerKey } from './key.js';
import { Places, placeOf } from '../run/index.js';
import { WrittenPlaces } from './written.js';

/** What the writer needs to know of a branch besides its columns, worked out once instead of at every node. */
export interface Layout {
  readonly node: ResultNode;
  readonly syntax: Block | Selection;
  readonly key: string;
  /** `"key":` as bytes */
  readonly prefix: Buffer;
  /** an edge to one node: shown as an object, not as a list */
  readonly single: boolean;
  readonly normalize: boolean;
  /** shows its uid, or another field as `uid` */
  readonly hasUid: boolean;
  readonly fields: readonly Layout[];
  /** what its columns hold */
  readonly kind: FieldKind;
  /** of an edge: its groups, which another selection of the same key asks for and which stand in the same list */
  readonly groups: Layout | undefined;
  /** of all languages: the keys of fields beside it that show one language, and show it alone */
  readonly taken: ReadonlySet<string>;
  /** aliases or names of `count(uid)` among the fields */
  readonly counts: readonly Layout[];
  /** the one list that all fields are aligned with */
  readonly source: UidList;
  /** where in `source` the last node stood: the next one is mostly right behind it */
  cursor: number;
  /** places of the uids of `source`, where they stand close together */
  readonly places: Places | undefined;
  /** where its nodes stand in the answer, when rows share many of them */
  readonly written: WrittenPlaces | undefined;
}

/** What tells whether a field shows languages that another one shows too. */
type LanguageField = Pick<Layout, 'node' | 'syntax' | 'key' | 'kind' | 'taken'>;

const NONE: ReadonlySet<string> = new Set();

type FieldKind =
  | 'uid'
  | 'edges'
  | 'groups'
  | 'counts'
  | 'value'
  | 'languages'
  | 'list'
  | 'computed'
  /** there is nothing to show */
  | 'empty';

function kindOf(node: ResultNode): FieldKind {
  if (node.groups) return 'groups';
  if (node.rows) return 'edges';
  if (node.syntax.kind === 'uid') return 'uid';
  if (node.counts) return 'counts';
  if (node.values) return 'value';
  if (node.valueLangs) return 'languages';
  if (node.valueLists) return 'list';
  return node.computed ? 'computed' : 'empty';
}

/** Its text gives it a key of its own. */
export function isNamed({ syntax }: Pick<Layout, 'syntax'>): boolean {
  return 'alias' in syntax && syntax.alias !== undefined;
}

export function layoutOf(node: ResultNode, names: Names): Layout {
  const { syntax } = node;
  const key = syntax.kind === 'block' ? syntax.name : answerKey(syntax);
  const fields = leaveLanguages(joinGroups(node.children.map((child) => layoutOf(child, names))));
  const reverse = syntax.kind === 'predicate' && syntax.reverse;
  const source = fields[0]?.node.source ?? node.dest;
  return {
    node,
    syntax,
    key,
    prefix: prefixOf(key),
    single: syntax.kind === 'predicate' && !reverse && node.predicate !== undefined && !node.predicate.list,
    normalize: 'directives' in syntax && syntax.directives.normalize,
    hasUid: fields.some(({ key, syntax }) => key === 'uid' && syntax.kind !== 'countUid'),
    kind: kindOf(node),
    groups: undefined,
    taken: NONE,
    fields: fields.filter((field) => field.syntax.kind !== 'countUid'),
    counts: fields.filter((field) => field.syntax.kind === 'countUid'),
    source,
    cursor: 0,
    places: Places.of(source),
    written: WrittenPlaces.of(node, source.length),
  };
}

/** `friend @groupby(..)` beside `friend`: both show in one list, groups first. */
function joinGroups(fields: readonly Layout[]): readonly Layout[] {
  const groups = new Map<string, Layout>();
  for (const field of fields) if (field.kind === 'groups') groups.set(field.key, field);
  if (groups.size === 0) return fields;
  const edges = new Set(fields.filter(({ kind }) => kind === 'edges').map(({ key }) => key));
  return fields
    .filter(({ kind, key }) => kind !== 'groups' || !edges.has(key))
    .map((field) => (field.kind === 'edges' ? { ...field, groups: groups.get(field.key) } : field));
}

/** The branches below one as fields that show no language twice. */
export function languageFields(children: readonly ResultNode[]): readonly LanguageField[] {
  return leaveLanguages(
    children.map((node) => {
      const { syntax } = node;
      const key = syntax.kind === 'block' ? syntax.name : answerKey(syntax);
      return { node, syntax, key, kind: kindOf(node), taken: NONE };
    }),
  );
}

/** `name@en` beside `expand(..)` or `name@*`: a key stands once in an object, as strict readers of JSON demand. */
function leaveLanguages<T extends LanguageField>(fields: readonly T[]): readonly T[] {
  if (!fields.some(({ kind }) => kind === 'languages')) return fields;
  const taken = new Set<string>();
  for (const field of fields) if (field.kind === 'value' && !isNamed(field)) taken.add(field.key);
  const whole = new Set<string>();
  const kept: T[] = [];
  for (const field of fields) {
    if (field.kind === 'languages' && field.syntax.kind === 'predicate' && !isNamed(field)) {
      if (whole.has(field.syntax.name)) continue;
      whole.add(field.syntax.name);
      kept.push({ ...field, taken });
    } else kept.push(field);
  }
  return kept;
}

export function prefixOf(key: string): Buffer {
  return Buffer.from(`${JSON.stringify(key)}:`);
}

/** Position of a uid among those that the fields of a layout are aligned with, or -1. */
export function positionOf(layout: Layout, uid: number): number {
  const { source, places } = layout;
  let at = layout.cursor;
  if (source[at] !== uid && source[++at] !== uid) {
    at = places ? places.place(uid) : placeOf(source, uid);
    if (at < 0) return -1;
  }
  layout.cursor = at;
  return at;
}
