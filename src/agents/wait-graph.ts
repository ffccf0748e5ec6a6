import { GraphsteadError } from '../base/index.js';

/** Which agent's turn waits for which other agents: a circle would wait for ever, so the edge that closes one is refused. */
export class WaitGraph {
  readonly #edges = new Map<string, string[]>();

  /** Adds an edge until the returned function is called. Throws AGENT_CIRCLE with the names of the circle. */
  wait(from: string, to: string, describe: (id: string) => string): () => void {
    const path = from === to ? [to] : this.#path(to, from);
    if (path !== undefined) {
      const names = [from, ...path].map(describe);
      throw new GraphsteadError('AGENT_CIRCLE', `agents would wait for each other: ${names.join(' -> ')}`, {
        fix: 'send one of these messages with sendMessageAsync',
        details: { agents: [from, ...path] },
      });
    }
    const targets = this.#edges.get(from) ?? [];
    targets.push(to);
    this.#edges.set(from, targets);
    return () => this.#remove(from, to);
  }

  #remove(from: string, to: string): void {
    const targets = this.#edges.get(from) ?? [];
    const at = targets.indexOf(to);
    if (at !== -1) targets.splice(at, 1);
    if (targets.length === 0) this.#edges.delete(from);
  }

  /** Agents on the way from one to another, both ends included. */
  #path(start: string, goal: string): string[] | undefined {
    const seen = new Set([start]);
    const walk = (id: string): string[] | undefined => {
      if (id === goal) return [id];
      for (const next of this.#edges.get(id) ?? []) {
        if (seen.has(next)) continue;
        seen.add(next);
        const rest = walk(next);
        if (rest !== undefined) return [id, ...rest];
      }
      return undefined;
    };
    return walk(start);
  }
}
