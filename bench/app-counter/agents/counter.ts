import { Agent, agents, type Int } from 'graphstead/app';

/** Counts what it is sent; the count is durable before the reply. */
export class Counter extends Agent<{ count: number }> {
  static readonly agentName = 'Counter';
  static readonly handlers = ['count'] as const;

  override state = { count: 0 };

  /**
   * One more; clients ask for it without a function between.
   * @mutation
   */
  count(): Int {
    this.state.count += 1;
    return this.state.count as Int;
  }

  override onReceiveMessage(name: string, data?: string) {
    if (name === 'count') return super.onReceiveMessage(name, data);
    this.state.count += 1;
    if (name === 'tell') this.#tell();
    else if (name === 'burst') for (let i = 0; i < Number(data); i++) this.#tell();
    else if (name === 'loop') for (;;);
    return String(this.state.count);
  }

  #tell(): void {
    this.publishEvent('counted', { count: this.state.count });
  }
}

agents.register(Counter);
