import { isAgentId } from '../agent-id.js';
import { shardOf } from '../keys.js';

/** tasks that a process may have, beside twice those of another, and still be chosen for an agent's sake */
const CROWD = 16;

/**
 * Where calls of functions run: one that names an agent in the process of that agent's turns, so that a message takes
 * one process to wake and one frame each way instead of two; all others in turn.
 */
export class Placement {
  #next = 0;

  /** A shard, as `Processes.alive` takes it. */
  of(args: readonly unknown[], processes: readonly { readonly tasks: number }[]): number {
    const named = args.find(isAgentId);
    if (named === undefined) return this.#next++;
    const shard = shardOf(named);
    const { tasks } = processes[shard % processes.length];
    return processes.some((other) => tasks > 2 * other.tasks + CROWD) ? this.#next++ : shard;
  }
}
