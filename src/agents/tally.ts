import type { AgentPart } from './part.js';

/** What landed since the start, for /metrics. */
export class Tally {
  #posted = 0;
  #retries = 0;
  #dead = 0;
  #events = 0;

  landed({ ops }: AgentPart): void {
    for (const op of ops) {
      if (op.op === 'post' || op.op === 'spawn') this.#posted++;
      else if (op.op === 'retry')
        this.#retries += op.notBefore > 0 ? 1 : 0; // a checkpoint is no failure
      else if (op.op === 'dead') this.#dead++;
      else if (op.op === 'turn') this.#events += op.events?.length ?? 0;
    }
  }

  stats(): Readonly<Record<string, number>> {
    return {
      messages_posted: this.#posted,
      message_retries: this.#retries,
      dead_letters: this.#dead,
      events_published: this.#events,
    };
  }
}
