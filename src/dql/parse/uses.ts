import type { Position } from '../../base/index.js';
import type { Block, Filter, FunctionCall, MathExpression, OrderKey, Page, Selection } from '../syntax/index.js';

export interface VariableMention {
  readonly name: string;
  readonly position: Position;
}

/** Variables that one block defines and uses. */
export interface BlockVariables {
  readonly defined: readonly VariableMention[];
  readonly used: readonly VariableMention[];
  /** those of `used` that must be known before the block's first nodes are: of its function, filter, order and page */
  readonly rootUsed: readonly VariableMention[];
}

/** What a block defines and uses, its selections included. */
export function variablesOf(block: Block): BlockVariables {
  const defined: VariableMention[] = [];
  const used: VariableMention[] = [];
  if (block.variable !== undefined) defined.push({ name: block.variable, position: block.position });
  if (block.root) usedByCall(block.root, used);
  if (block.filter) usedByFilter(block.filter, used);
  usedByPaging(block.order, block.page, block.position, used);
  for (const end of block.shortest ? [block.shortest.from, block.shortest.to] : []) {
    if (end.kind === 'variable') used.push({ name: end.name, position: block.position });
  }
  const rootUsed = [...used];
  for (const child of block.children) walk(child, defined, used);
  return { defined, used, rootUsed };
}

/** What a selection and everything below it define. */
export function definedIn(selection: Selection): readonly VariableMention[] {
  const defined: VariableMention[] = [];
  walk(selection, defined, []);
  return defined;
}

/** A variable whose values are computed, and the variables that they are computed from. */
interface ComputedVariable extends VariableMention {
  readonly from: readonly string[];
}

/** The variables of these blocks that val(), aggregates and math define, at every level. */
export function computedIn(blocks: readonly Block[]): readonly ComputedVariable[] {
  const found: ComputedVariable[] = [];
  const open: (readonly Selection[])[] = blocks.map(({ children }) => children);
  for (let selections = open.pop(); selections !== undefined; selections = open.pop()) {
    for (const selection of selections) {
      const { kind, variable: name, position } = selection;
      if ('children' in selection) open.push(selection.children);
      else if (name !== undefined && (kind === 'value' || kind === 'aggregate' || kind === 'math')) {
        const used: VariableMention[] = [];
        walk(selection, [], used);
        found.push({ name, position, from: used.map((mention) => mention.name) });
      }
    }
  }
  return found;
}

function walk(selection: Selection, defined: VariableMention[], used: VariableMention[]): void {
  const { variable, position } = selection;
  if (variable !== undefined) defined.push({ name: variable, position });
  switch (selection.kind) {
    case 'value':
      used.push({ name: selection.of, position });
      break;
    case 'aggregate':
      if (selection.of.kind === 'variable') used.push({ name: selection.of.name, position });
      break;
    case 'math':
      usedByMath(selection.expression, used);
      break;
    case 'countPredicate':
      if (selection.filter) usedByFilter(selection.filter, used);
      break;
    case 'expand':
      if (selection.of.kind === 'variable') used.push({ name: selection.of.name, position });
      walkEdge(selection, defined, used);
      break;
    case 'predicate':
      walkEdge(selection, defined, used);
      break;
    default:
  }
}

function walkEdge(
  selection: Extract<Selection, { kind: 'predicate' | 'expand' }>,
  defined: VariableMention[],
  used: VariableMention[],
): void {
  if (selection.filter) usedByFilter(selection.filter, used);
  usedByPaging(selection.order, selection.page, selection.position, used);
  for (const { variable } of selection.facets?.keys ?? []) {
    if (variable !== undefined) defined.push({ name: variable, position: selection.position });
  }
  for (const child of selection.children) walk(child, defined, used);
}

function usedByPaging(order: readonly OrderKey[], page: Page, position: Position, used: VariableMention[]): void {
  for (const key of order) if (key.by.kind === 'variable') used.push({ name: key.by.name, position: key.position });
  if (page.after?.kind === 'variable') used.push({ name: page.after.name, position });
}

/** Variables of a filter or of an @if condition. */
export function usedByFilter(filter: Filter, used: VariableMention[]): void {
  if (filter.kind === 'call') usedByCall(filter.call, used);
  else if (filter.kind === 'not') usedByFilter(filter.child, used);
  else for (const child of filter.children) usedByFilter(child, used);
}

function usedByCall({ subject, args }: FunctionCall, used: VariableMention[]): void {
  if (subject?.kind === 'value' || subject?.kind === 'length') {
    used.push({ name: subject.variable, position: args[0]?.position ?? { line: 1, column: 1 } });
  }
  for (const arg of args) {
    if (arg.kind === 'value') used.push({ name: arg.variable, position: arg.position });
    else if (arg.kind === 'uidVariable') used.push({ name: arg.name, position: arg.position });
  }
}

function usedByMath(expression: MathExpression, used: VariableMention[]): void {
  if (expression.kind === 'variable') used.push({ name: expression.name, position: expression.position });
  else if (expression.kind === 'apply') for (const arg of expression.args) usedByMath(arg, used);
}
