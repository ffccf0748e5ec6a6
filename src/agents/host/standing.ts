import { AsyncLocalStorage } from 'node:async_hooks';
import type { Task } from './task.js';

/** The `graph.transaction` whose work runs. */
export interface Standing {
  readonly id: number;
  /** of a function: where it stands among the transactions of its call, whatever its number in this run */
  readonly place: string;
  /** transactions that began inside it so far */
  inside: number;
}

const standing = new AsyncLocalStorage<Standing>();

/** Runs work as that of a transaction: everything it awaits stands inside. */
export function inside<T>(id: number, place: string, work: () => T): T {
  return standing.run({ id, place, inside: 0 }, work);
}

export function around(): Standing | undefined {
  return standing.getStore();
}

/** The same in each run of a function, and when its request is repeated, as long as its code begins the same in the same order. */
export function placeOfNext(task: Task): string {
  const outer = standing.getStore();
  return outer === undefined ? String(task.nextTransaction()) : `${outer.place}.${++outer.inside}`;
}

/** Options of what is said to agents, with the number of the function's transaction that it stands in. A turn's belongs to the turn. */
export function withTransaction<T extends object>(task: Task, options: T): T & { readonly transaction?: number } {
  const outer = task.turn === undefined ? standing.getStore() : undefined;
  return outer === undefined ? options : { ...options, transaction: outer.id };
}
