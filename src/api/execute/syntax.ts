import type { Position } from '../../base/index.js';
import type {
  Argument,
  Block,
  Directives,
  Filter,
  FunctionCall,
  FunctionName,
  OrderKey,
  Page,
  PredicateSelection,
  Selection,
} from '../../dql/index.js';
import type { Storage } from '../../sdl/index.js';

/** GraphQL errors carry their own locations; what is built here has no place in a graph-language text. */
const NOWHERE: Position = Object.freeze({ line: 0, column: 0 });
const NO_PAGE: Page = Object.freeze({});
const PLAIN: Directives = Object.freeze({ normalize: false, ignoreReflex: false });

/** A stored predicate with its direction and languages: `~directed`, `Person.name@hi:zh`. */
export interface PredicateName {
  readonly name: string;
  readonly reverse: boolean;
  readonly langs: readonly string[];
}

/** What a stored field is called in the graph. */
export function storedName(storage: Storage): PredicateName {
  return { name: storage.predicate, reverse: storage.reverse, langs: storage.languages ?? [] };
}

export function plainName(name: string): PredicateName {
  return { name, reverse: false, langs: [] };
}

export function literal(value: string | number | bigint | boolean): Argument {
  return { kind: 'literal', text: String(value), quoted: typeof value === 'string', position: NOWHERE };
}

export function regexp(pattern: string, flags: string): Argument {
  return { kind: 'regexp', pattern, flags, position: NOWHERE };
}

export function coordinates(value: unknown): Argument {
  return { kind: 'coordinates', text: JSON.stringify(value), position: NOWHERE };
}

function uidArgument(uid: number): Argument {
  return { kind: 'uid', uid, position: NOWHERE };
}

export function uidVariable(name: string): Argument {
  return { kind: 'uidVariable', name, position: NOWHERE };
}

/** `name(subject, args)` over a predicate */
export function call(name: FunctionName, subject: PredicateName | undefined, args: readonly Argument[]): FunctionCall {
  if (!subject) return { name, args, position: NOWHERE };
  const shown = `${subject.reverse ? '~' : ''}${subject.name}`;
  return { name, subject: { kind: 'predicate', shown, ...subject }, args, position: NOWHERE };
}

export function ofType(name: string): FunctionCall {
  return call('type', undefined, [literal(name)]);
}

export function ofUids(uids: readonly number[]): FunctionCall {
  return call('uid', undefined, uids.map(uidArgument));
}

export function ofVariable(...names: readonly string[]): FunctionCall {
  return call('uid', undefined, names.map(uidVariable));
}

/** Matches nothing. */
const NOTHING: FunctionCall = Object.freeze(call('uid', undefined, []));

/** Matches nothing; compared by identity. */
export const NEVER: Filter = Object.freeze({ kind: 'call', call: NOTHING } as const);

export function test(name: FunctionCall): Filter {
  return { kind: 'call', call: name };
}

/** undefined stands for "everything" on both sides. */
export function and(...children: readonly (Filter | undefined)[]): Filter | undefined {
  return allOf(children);
}

/** `and` of as many as a client gives: more than there may be arguments. */
export function allOf(children: readonly (Filter | undefined)[]): Filter | undefined {
  const parts: Filter[] = [];
  for (const child of children) {
    if (child === NEVER) return NEVER;
    if (child?.kind === 'and') for (const part of child.children) parts.push(part);
    else if (child) parts.push(child);
  }
  return parts.length < 2 ? parts[0] : { kind: 'and', children: parts };
}

/** No alternative at all matches nothing; an alternative that is undefined matches everything. */
export function or(...children: readonly (Filter | undefined)[]): Filter | undefined {
  return anyOf(children);
}

/** `or` of as many as a client gives. */
export function anyOf(children: readonly (Filter | undefined)[]): Filter | undefined {
  if (children.some((child) => child === undefined)) return undefined;
  const parts = (children as readonly Filter[]).filter((child) => child !== NEVER);
  if (parts.length === 0) return NEVER;
  return parts.length === 1 ? parts[0] : { kind: 'or', children: parts };
}

export function not(child: Filter | undefined): Filter | undefined {
  if (child === undefined) return NEVER;
  return child === NEVER ? undefined : { kind: 'not', child };
}

type BlockParts = Partial<Omit<Block, 'kind' | 'position'>>;

/** A root block; a `var` block unless it has a name. */
export function block(parts: BlockParts): Block {
  return {
    kind: 'block',
    name: '',
    isVar: parts.name === undefined,
    order: [],
    page: NO_PAGE,
    directives: PLAIN,
    children: [],
    position: NOWHERE,
    ...parts,
  };
}

export function select(predicate: PredicateName, parts: Partial<PredicateSelection> = {}): PredicateSelection {
  return {
    kind: 'predicate',
    ...predicate,
    shown: `${predicate.reverse ? '~' : ''}${predicate.name}`,
    order: [],
    page: NO_PAGE,
    directives: PLAIN,
    children: [],
    position: NOWHERE,
    ...parts,
  };
}

const UID: Selection = Object.freeze({ kind: 'uid', position: NOWHERE });

/** An edge or a block that shows nothing of its nodes still asks which they are. */
export function childrenOf(selections: readonly Selection[]): readonly Selection[] {
  return selections.length > 0 ? selections : [UID];
}

export function checkPassword(predicate: string, password: string, variable: string): Selection {
  return { kind: 'checkPassword', name: predicate, shown: predicate, password, variable, position: NOWHERE };
}

export function orderBy(predicate: PredicateName, descending: boolean): OrderKey {
  return { by: { kind: 'predicate', name: predicate.name, langs: predicate.langs }, descending, position: NOWHERE };
}

export function orderByVariable(name: string, descending: boolean): OrderKey {
  return { by: { kind: 'variable', name, keepAll: true }, descending, position: NOWHERE };
}

/** Of a level that is read beside what was asked for. */
export const BESIDE: Directives = Object.freeze({ ...PLAIN, beside: true });

export function cascading(fields: readonly string[] | undefined): Directives {
  return fields ? { cascade: fields, normalize: false, ignoreReflex: false } : PLAIN;
}

export { NOWHERE };
