import { invalidValue } from '../failure.js';
import type { Ranges } from './char-class.js';
import type { Assertion, PatternNode } from './syntax.js';

/** One step of a nondeterministic automaton; numbers are places in the program. */
export type Step =
  | { readonly op: 'set'; readonly ranges: Ranges; readonly next: number }
  | { readonly op: 'split'; readonly next: number; readonly other: number }
  | { readonly op: 'assert'; readonly at: Assertion; readonly next: number }
  | { readonly op: 'match' };

export interface Program {
  readonly steps: readonly Step[];
  readonly start: number;
}

const LARGEST = 5_000;

/** Thompson's construction, from the end backwards: each node is built knowing what follows it. */
export function programOf(node: PatternNode): Program {
  const steps: Step[] = [{ op: 'match' }];
  const start = build(node, 0, steps);
  return { steps, start };
}

function add(step: Step, steps: Step[]): number {
  if (steps.length >= LARGEST) {
    throw invalidValue('the pattern is too large', 'Use smaller repetitions, such as x{1,10} in place of x{1,1000}.');
  }
  return steps.push(step) - 1;
}

function build(node: PatternNode, next: number, steps: Step[]): number {
  switch (node.kind) {
    case 'empty':
      return next;
    case 'set':
      return add({ op: 'set', ranges: node.ranges, next }, steps);
    case 'assert':
      return add({ op: 'assert', at: node.at, next }, steps);
    case 'concat':
      return node.parts.reduceRight((after, part) => build(part, after, steps), next);
    case 'alternate':
      return node.parts
        .map((part) => build(part, next, steps))
        .reduceRight((other, entry) => add({ op: 'split', next: entry, other }, steps));
    default:
      return buildRepeat(node, next, steps);
  }
}

function buildRepeat(node: Extract<PatternNode, { kind: 'repeat' }>, next: number, steps: Step[]): number {
  let entry = next;
  if (node.max === Number.POSITIVE_INFINITY) entry = buildStar(node.node, next, steps);
  else {
    for (let i = node.min; i < node.max; i++) {
      entry = add({ op: 'split', next: build(node.node, entry, steps), other: next }, steps);
    }
  }
  for (let i = 0; i < node.min; i++) entry = build(node.node, entry, steps);
  return entry;
}

function buildStar(node: PatternNode, next: number, steps: Step[]): number {
  const loop = add({ op: 'split', next, other: next }, steps);
  const body = build(node, loop, steps);
  steps[loop] = { op: 'split', next: body, other: next };
  return loop;
}
