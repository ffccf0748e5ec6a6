import { STEP, type Steps, TYPE_PREDICATE } from '../../base/index.js';
import { decodeValue, valueText } from '../../values/index.js';
import type { UidList } from '../../graph/index.js';
import type { Directives, Selection } from '../syntax/index.js';
import type { ResultBranch } from './branch.js';
import { cutBranch, pruneBranch } from './edge.js';
import { placeOf } from './uid-set.js';

/** Fields that @cascade asks for; empty means all; undefined: no @cascade. A level takes them from the one above. */
export type CascadeFields = readonly string[] | undefined;

/** `@cascade(__all__)` says what `@cascade` says. */
const ALL_FIELDS = '__all__';

/** What @cascade of a level is, with what it inherits. */
export function cascadeOf(directives: Directives, inherited: CascadeFields): CascadeFields {
  const fields = directives.cascade ?? inherited;
  return fields?.includes(ALL_FIELDS) ? [] : fields;
}

function directivesOf(branch: ResultBranch): Directives | undefined {
  const { syntax } = branch;
  return 'directives' in syntax ? syntax.directives : undefined;
}

/**
 * Takes out, from the bottom up, the nodes that lack a field that @cascade asks for, and cuts what is left to its
 * page. Rows and `dest` of each branch are right afterwards; `source` of the branches below stays as it was read.
 */
export function* applyCascade(at: ResultBranch, inherited: CascadeFields): Steps<void> {
  const directives = directivesOf(at);
  if (!directives || at.groups) return;
  const fields = cascadeOf(directives, inherited);
  for (const child of at.children) {
    if (child.rows && !directivesOf(child)?.beside) yield* applyCascade(child, fields);
  }
  if (!fields) return;
  const asked = at.children.filter((child) => isAsked(child, fields));
  const dest = yield* thatHave(at.dest, directives.asked ? askedByType(at, directives.asked) : () => asked);
  if (dest.length < at.dest.length) yield* pruneBranch(at, dest);
  if ('page' in at.syntax && at.syntax.page) yield* cutBranch(at, at.syntax.page);
}

const NOTHING: readonly ResultBranch[] = [];

/** What is asked of a node where that hangs on its type; nothing of one that is of none of the types. */
function askedByType(at: ResultBranch, types: ReadonlyMap<string, readonly Selection[]>) {
  const branches = new Map<string, readonly ResultBranch[]>();
  for (const [type, selections] of types) {
    branches.set(
      type,
      at.children.filter(({ syntax }) => selections.includes(syntax as Selection)),
    );
  }
  const typed = at.children.find(({ syntax }) => syntax.kind === 'predicate' && syntax.name === TYPE_PREDICATE);
  return (uid: number): readonly ResultBranch[] => {
    const place = typed ? placeOf(typed.source, uid) : -1;
    for (const bytes of typed?.valueLists?.[place] ?? []) {
      const asked = branches.get(valueText(decodeValue(bytes)));
      if (asked) return asked;
    }
    return NOTHING;
  };
}

/** Those of the uids that have a value or an edge in each of the fields that are asked of them. */
function* thatHave(uids: UidList, askedOf: (uid: number) => readonly ResultBranch[]): Steps<UidList> {
  const kept = new Float64Array(uids.length);
  let count = 0;
  for (let i = 0; i < uids.length; i++) {
    if (i % STEP === STEP - 1) yield;
    const place = (field: ResultBranch) => (field.source === uids ? i : placeOf(field.source, uids[i]));
    if (askedOf(uids[i]).every((field) => hasField(field, place(field)))) kept[count++] = uids[i];
  }
  return kept.subarray(0, count);
}

function isAsked(child: ResultBranch, fields: readonly string[]): boolean {
  const { syntax } = child;
  if (syntax.kind !== 'predicate' && syntax.kind !== 'countPredicate') return false;
  if (directivesOf(child)?.beside) return false;
  if (fields.length === 0) return true;
  return fields.includes(syntax.name) && !syntax.reverse ? true : syntax.reverse && fields.includes(`~${syntax.name}`);
}

/** Whether the node at a place of the child's source has the field; -1 for a node that is not there. */
function hasField(child: ResultBranch, at: number): boolean {
  if (at < 0) return false;
  if (child.counts) return true;
  return isFilled(child.rows?.[at]) || isFilled(child.valueLists?.[at]) || child.values?.has(at) === true;
}

function isFilled(list: UidList | readonly unknown[] | undefined): boolean {
  return list !== undefined && list.length > 0;
}
