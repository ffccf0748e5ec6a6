import { Agent, agents } from 'graphstead/app';

/** Counts what it is sent; the count is durable before the reply. */
export class Counter extends Agent<{ count: number }> {
  static readonly agentName = 'Counter';

  override state = { count: 0 };

  override onReceiveMessage(name: string, data?: string): string {
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
