import { setTimeout as rest } from 'node:timers/promises';
import type { Committer } from '../commit/index.js';
import { readHeads, readNow } from './reader.js';
import type { Head } from './stored.js';

/** stored agents that one step looks at, and the milliseconds between two: 100,000 take seconds, and nobody waits for them */
const STEP = 1_000;
const PAUSE_MS = 20;
/** types that one line names */
const NAMED = 10;

/**
 * Tells of stored agents whose type the app does not register: a class that was renamed would be noticed by the first message to
 * one of them alone.
 */
export class UnregisteredTypes {
  /** types that were registered when all were counted, or since: agents without a class come about only where one of them goes */
  #known: readonly string[] | undefined;
  #over = new AbortController();
  #counting: Promise<void> = Promise.resolve();

  constructor(
    readonly committer: Pick<Committer, 'snapshot'>,
    readonly tell: (message: string) => void,
    readonly failed: (error: unknown) => void,
  ) {}

  /** An app was loaded: counts in steps behind it, where there may be something to tell. One that is loaded meanwhile takes over. */
  look(types: readonly string[]): void {
    this.#over.abort();
    if (this.#known?.every((type) => types.includes(type))) {
      this.#known = types;
      return;
    }
    const over = new AbortController();
    this.#over = over;
    this.#counting = this.#count(types, over.signal).catch((error: unknown) => {
      if (!over.signal.aborted) this.failed(error);
    });
  }

  /** Resolves once nothing is read any more. */
  async stop(): Promise<void> {
    this.#over.abort();
    await this.#counting;
  }

  async #count(types: readonly string[], signal: AbortSignal): Promise<void> {
    const counts = new Map<string, number>();
    let after: string | undefined;
    do {
      await rest(PAUSE_MS, undefined, { ref: false, signal });
      after = await this.#step(after, (type) => {
        if (!types.includes(type)) counts.set(type, (counts.get(type) ?? 0) + 1);
      });
    } while (after !== undefined);
    if (signal.aborted) return;
    this.#known = types;
    if (counts.size > 0) this.tell(lineOf(counts));
  }

  /** Gives the last id of a step behind which others follow. */
  async #step(after: string | undefined, found: (type: string) => void): Promise<string | undefined> {
    let seen = 0;
    let last: string | undefined;
    const take = (id: string, { type, status }: Head): boolean => {
      if (status !== 'terminated') found(type);
      last = id;
      return ++seen < STEP;
    };
    await readNow(this.committer, (snapshot) => readHeads(snapshot, after, take));
    return seen < STEP ? undefined : last;
  }
}

function lineOf(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort(([a, many], [b, more]) => more - many || a.localeCompare(b));
  const named = sorted.slice(0, NAMED).map(([type, count]) => `${count} of ${JSON.stringify(type)}`);
  const more = sorted.length > NAMED ? ` and others of ${sorted.length - NAMED} more types` : '';
  const what = `stored agents have a type that no class of the app is registered as: ${named.join(', ')}${more}`;
  const name = JSON.stringify(sorted[0][0]);
  const fix = `where a class was renamed, keep its name: static readonly agentName = ${name}; where it is gone for good, stop them: agents.list({ name: ${name} }) has their ids`;
  return `${what}; their messages and alarms wait until one is, and who waits for a reply gets AGENT_TYPE_UNKNOWN (${fix})`;
}
