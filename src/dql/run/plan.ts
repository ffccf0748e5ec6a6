import { GraphsteadError, type Position } from '../../base/index.js';
import type {
  AggregateSelection,
  Block,
  FacetRequest,
  Filter,
  FunctionCall,
  MathExpression,
  OrderKey,
  Page,
  Selection,
  UidArgument,
} from '../syntax/index.js';

/** Which variables a block defines, and which it reads. */
interface BlockVariables {
  readonly defines: ReadonlySet<string>;
  readonly needs: ReadonlySet<string>;
  /** those of `needs` that are asked for their values, and where first: `val(x)`, `math(x + 1)` */
  readonly valued: ReadonlyMap<string, Position>;
  /** those of `needs` whose values are names of fields: `expand(val(x))` */
  readonly expands: ReadonlySet<string>;
}

/**
 * Blocks in an order in which every variable is defined before it is read, as positions in the list.
 * Throws INVALID_QUERY for a variable that nothing defines, and for blocks that wait for each other.
 */
export function planBlocks(blocks: readonly Block[]): readonly number[] {
  const variables = blocks.map(variablesOf);
  const defined = new Set(variables.flatMap((one) => [...one.defines]));
  for (let i = 0; i < blocks.length; i++) {
    for (const name of variables[i].needs) {
      if (!defined.has(name)) {
        throw new GraphsteadError('INVALID_QUERY', `variable ${name} is used but not defined`, {
          position: blocks[i].position,
          fix: `Define it in this or another block: ${name} as ...`,
        });
      }
    }
  }
  return arrange(blocks, variables);
}

function arrange(blocks: readonly Block[], variables: readonly BlockVariables[]): readonly number[] {
  const order: number[] = [];
  const ready = new Set<string>();
  const waiting = new Set(blocks.keys());
  while (waiting.size > 0) {
    const before = order.length;
    for (const i of waiting) {
      const { needs, defines } = variables[i];
      if (![...needs].every((name) => ready.has(name) || defines.has(name))) continue;
      order.push(i);
      waiting.delete(i);
      for (const name of defines) ready.add(name);
    }
    if (order.length > before) continue;
    const [first] = waiting;
    throw new GraphsteadError('INVALID_QUERY', 'the variables of these blocks depend on each other in a circle', {
      position: blocks[first].position,
      fix: 'Split the block so that each variable is defined before it is used.',
    });
  }
  return order;
}

export function variablesOf(block: Block): BlockVariables {
  const found = new VariableFinder();
  found.block(block);
  return found;
}

class VariableFinder implements BlockVariables {
  readonly defines = new Set<string>();
  readonly needs = new Set<string>();
  readonly valued = new Map<string, Position>();
  readonly expands = new Set<string>();

  block(block: Block): void {
    this.define(block.variable);
    if (block.root) this.call(block.root);
    if (block.filter) this.filter(block.filter);
    this.order(block.order);
    this.page(block.page);
    if (block.shortest) {
      this.uid(block.shortest.from);
      this.uid(block.shortest.to);
    }
    for (const child of block.children) this.selection(child);
  }

  define(name: string | undefined): void {
    if (name !== undefined) this.defines.add(name);
  }

  value(name: string, position: Position): void {
    this.needs.add(name);
    if (!this.valued.has(name)) this.valued.set(name, position);
  }

  uid(argument: UidArgument | undefined): void {
    if (argument?.kind === 'variable') this.needs.add(argument.name);
  }

  page(page: Page): void {
    this.uid(page.after);
  }

  order(keys: readonly OrderKey[]): void {
    for (const { by, position } of keys) if (by.kind === 'variable') this.value(by.name, position);
  }

  facets(request: FacetRequest | undefined): void {
    for (const key of request?.keys ?? []) this.define(key.variable);
  }

  filter(filter: Filter): void {
    if (filter.kind === 'call') this.call(filter.call);
    else if (filter.kind === 'not') this.filter(filter.child);
    else for (const child of filter.children) this.filter(child);
  }

  call(call: FunctionCall): void {
    if (call.subject?.kind === 'value') this.value(call.subject.variable, call.position);
    if (call.subject?.kind === 'length') this.needs.add(call.subject.variable);
    for (const argument of call.args) {
      if (argument.kind === 'uidVariable') this.needs.add(argument.name);
      if (argument.kind === 'value') this.value(argument.variable, argument.position);
    }
  }

  math(expression: MathExpression): void {
    if (expression.kind === 'variable') this.value(expression.name, expression.position);
    if (expression.kind === 'apply') for (const arg of expression.args) this.math(arg);
  }

  aggregate({ of, position }: AggregateSelection): void {
    if (of.kind === 'variable') this.value(of.name, position);
  }

  selection(selection: Selection): void {
    this.define(selection.variable);
    switch (selection.kind) {
      case 'predicate':
      case 'expand':
        if (selection.kind === 'expand' && selection.of.kind === 'variable') {
          this.needs.add(selection.of.name);
          this.expands.add(selection.of.name);
        }
        if (selection.filter) this.filter(selection.filter);
        this.facets(selection.facets);
        this.order(selection.order);
        this.page(selection.page);
        for (const child of selection.children) this.selection(child);
        break;
      case 'countPredicate':
        if (selection.filter) this.filter(selection.filter);
        break;
      case 'value':
        this.value(selection.of, selection.position);
        break;
      case 'aggregate':
        this.aggregate(selection);
        break;
      case 'math':
        this.math(selection.expression);
        break;
    }
  }
}
