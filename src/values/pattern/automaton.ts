import { GraphsteadError } from '../../base/index.js';
import { type Alphabet, alphabetOf } from './alphabet.js';
import { holds, type Ranges, WORD } from './char-class.js';
import type { Program, Step } from './program.js';
import type { Assertion } from './syntax.js';

/** What stands before a place in a text. */
type Before = 'start' | 'newline' | 'word' | 'other';
/** What stands behind it. */
type Behind = 'end' | 'newline' | 'word' | 'other';

interface State {
  /** places of the program, ascending, not yet followed through splits and assertions */
  readonly places: readonly number[];
  readonly before: Before;
  /** by class of the next character, the last one for the end; undefined is not known yet */
  readonly next: (State | undefined)[];
}

const MOST_STATES = 1_000;
/** places in all remembered states together */
const MOST_PLACES = 500_000;
/** steps that building states may take for one text, about a second: minutes of work would be linear too */
const MOST_WORK = 4_000_000;
const FOUND: State = { places: [], before: 'other', next: [] };

/**
 * Sets of places are made into states as texts need them, and forgotten when there are too many, so that a text takes
 * time in proportion to its length whatever the pattern.
 */
export class Automaton {
  readonly #program: Program;
  readonly #alphabet: Alphabet;
  readonly #asserts: boolean;
  #states = new Map<string, State>();
  #places = 0;
  #work = 0;

  constructor(program: Program) {
    this.#program = program;
    this.#alphabet = alphabetOf(distinctSets(program.steps));
    this.#asserts = program.steps.some((step) => step.op === 'assert');
  }

  /** The pattern matches somewhere in the text. Throws LIMIT_EXCEEDED where pattern and text together are too large. */
  test(text: string): boolean {
    this.#work = 0;
    let state = this.#state([this.#program.start], 'start');
    for (let i = 0; i < text.length; i++) {
      const point = text.codePointAt(i) as number;
      if (point > 0xffff) i++;
      const kind = this.#alphabet.classOf(point);
      state = state.next[kind] ?? this.#follow(state, kind);
      if (state === FOUND) return true;
    }
    const end = this.#alphabet.size;
    return (state.next[end] ?? this.#follow(state, end)) === FOUND;
  }

  #state(places: readonly number[], before: Before): State {
    const shown = this.#asserts ? before : 'other';
    const key = `${shown}${places.join()}`;
    const known = this.#states.get(key);
    if (known) return known;
    if (this.#states.size >= MOST_STATES || this.#places > MOST_PLACES) {
      this.#states = new Map();
      this.#places = 0;
    }
    this.#places += places.length;
    const state: State = { places, before: shown, next: [] };
    this.#states.set(key, state);
    return state;
  }

  #follow(state: State, kind: number): State {
    const point = this.#alphabet.samples[kind];
    const behind: Behind = point === undefined ? 'end' : kindOf(point);
    const open = this.#closure(state, behind);
    if (this.#work > MOST_WORK) {
      throw new GraphsteadError('LIMIT_EXCEEDED', 'the pattern takes too long on a text that it is matched with', {
        fix: 'Use smaller repetitions, or fewer of them.',
      });
    }
    const next = open === FOUND ? FOUND : this.#step(open as readonly number[], point, behind);
    state.next[kind] = next;
    return next;
  }

  /** Places that wait for a character, or FOUND when the program is through. */
  #closure(state: State, behind: Behind): readonly number[] | State {
    const seen = new Set<number>();
    const waiting: number[] = [];
    const stack = [...state.places];
    for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
      if (seen.has(place)) continue;
      seen.add(place);
      const step = this.#program.steps[place];
      if (step.op === 'match') return FOUND;
      if (step.op === 'set') waiting.push(place);
      else if (step.op === 'split') stack.push(step.other, step.next);
      else if (assertionHolds(step.at, state.before, behind)) stack.push(step.next);
    }
    this.#work += seen.size;
    return waiting;
  }

  #step(open: readonly number[], point: number | undefined, behind: Behind): State {
    if (point === undefined) return this.#state([], 'other');
    // a match may begin behind every character
    const next = new Set([this.#program.start]);
    for (const place of open) {
      const step = this.#program.steps[place];
      if (step.op === 'set' && holds(step.ranges, point)) next.add(step.next);
    }
    return this.#state(
      [...next].sort((a, b) => a - b),
      behind === 'end' ? 'other' : behind,
    );
  }
}

function distinctSets(steps: readonly Step[]): Ranges[] {
  const sets = new Map<string, Ranges>();
  for (const step of steps) if (step.op === 'set') sets.set(step.ranges.join(), step.ranges);
  return [...sets.values()];
}

function kindOf(point: number): 'newline' | 'word' | 'other' {
  return point === 10 ? 'newline' : holds(WORD, point) ? 'word' : 'other';
}

function assertionHolds(at: Assertion, before: Before, behind: Behind): boolean {
  switch (at) {
    case 'textStart':
      return before === 'start';
    case 'textEnd':
      return behind === 'end';
    case 'lineStart':
      return before === 'start' || before === 'newline';
    case 'lineEnd':
      return behind === 'end' || behind === 'newline';
    case 'wordBoundary':
      return (before === 'word') !== (behind === 'word');
    default:
      return (before === 'word') === (behind === 'word');
  }
}
