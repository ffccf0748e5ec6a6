import { forEachInSteps, type Position, type Steps } from '../../base/index.js';
import type { MutationBlock, Triple } from '../syntax/index.js';
import { usedByFilter, type VariableMention } from './uses.js';

/** Variables of the query that mutations use: uid(v), val(v) and what conditions compare. One mention a variable. */
export function* neededVariables(blocks: readonly MutationBlock[]): Steps<readonly VariableMention[]> {
  const mentions = new Map<string, VariableMention>();
  const add = (name: string, position: Position): void => {
    if (!mentions.has(name)) mentions.set(name, { name, position });
  };
  const collect = (triple: Triple): void => {
    const { subject, object, position } = triple;
    if (subject.kind === 'variable') add(subject.name, subject.position ?? position);
    if (object.kind === 'variable') add(object.name, object.position ?? position);
    if (object.kind === 'value') add(object.variable, position);
  };
  for (const block of blocks) {
    yield* forEachInSteps(block.set, collect);
    yield* forEachInSteps(block.delete, collect);
    const inCondition: VariableMention[] = [];
    if (block.condition) usedByFilter(block.condition, inCondition);
    for (const mention of inCondition) if (!mentions.has(mention.name)) mentions.set(mention.name, mention);
  }
  return [...mentions.values()];
}
