import {
  type Clock,
  DEFAULT_LIMITS,
  defaultNames,
  GraphsteadError,
  type Limits,
  type MaybePromise,
  type Names,
  systemClock,
} from '../../base/index.js';
import type { GraphReader, Predicate } from '../../graph/index.js';
import type { RunOptions } from '../contract.js';
import { Pace } from './pace.js';
import type { RunVariable } from './variable.js';

/** names that one answer tells of */
const UNKNOWN_TOLD = 20;

/** One running query: what every operator is given. */
export class Execution {
  readonly reader: GraphReader;
  readonly limits: Limits;
  readonly names: Names;
  readonly clock: Clock;
  readonly variables = new Map<string, RunVariable>();
  /** variables that expand(val(x)) reads: of lists they hold every member */
  readonly expanded = new Set<string>();
  /** names that the schema does not know, the first of them: nothing was ever written under one */
  readonly unknown = new Set<string>();
  readonly #pace: Pace;
  readonly #numUids = new Map<string, number>();
  #edges = 0;

  constructor(reader: GraphReader, options: RunOptions) {
    this.reader = reader;
    this.limits = options.limits ?? DEFAULT_LIMITS;
    this.names = options.names ?? defaultNames;
    this.clock = options.clock ?? systemClock;
    this.#pace = new Pace(options);
  }

  /** undefined for a name the schema does not know: it reads as empty */
  predicate(name: string): Predicate | undefined {
    const known = this.reader.schema.predicate(name);
    if (known === undefined && this.unknown.size < UNKNOWN_TOLD) this.unknown.add(name);
    return known;
  }

  /** Every operator awaits this: it keeps the deadline and lets the event loop turn. Throws TIMEOUT, CANCELLED. */
  checkpoint(): MaybePromise<void> {
    return this.#pace.pause();
  }

  /** Counts edges touched by the whole query. Throws LIMIT_EXCEEDED. */
  countEdges(edges: number): void {
    this.#edges += edges;
    if (this.#edges <= this.limits.queryEdges) return;
    throw new GraphsteadError('LIMIT_EXCEEDED', `the query touches more than ${this.limits.queryEdges} edges`, {
      fix: 'Narrow it with a filter or with first, or raise limits.queryEdges.',
    });
  }

  /** Notes that a predicate was read for so many uids. */
  countUids(predicate: string, uids: number): void {
    this.#numUids.set(predicate, (this.#numUids.get(predicate) ?? 0) + uids);
  }

  get numUids(): Record<string, number> {
    const shown: Record<string, number> = {};
    let total = 0;
    for (const [name, uids] of this.#numUids) {
      shown[this.names.shown(name)] = uids;
      total += uids;
    }
    shown._total = total;
    return shown;
  }
}
