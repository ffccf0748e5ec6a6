import { Agent, agents, graph } from 'graphstead/app';

interface Ledger {
  /** keyed messages of each client */
  keyed: Record<string, number>;
  plain: number;
  mailed: number;
  /** messages that turns of other agents sent, to the mailbox and waiting for the reply */
  forwarded: number;
  asked: number;
  /** alarms that rang */
  rung: number;
  /** events so far */
  told: number;
}

interface Note {
  readonly client: string;
  readonly to: string;
}

/** Counts every effect of its turns, so that one too few or one too many shows. */
export class LedgerAgent extends Agent<Ledger> {
  static readonly agentName = 'Ledger';
  static readonly readOnly = ['show'];

  override state: Ledger = { keyed: {}, plain: 0, mailed: 0, forwarded: 0, asked: 0, rung: 0, told: 0 };

  override async onReceiveMessage(name: string, data = ''): Promise<string> {
    switch (name) {
      case 'note':
        return this.#note(JSON.parse(data) as Note);
      case 'plain':
      case 'mailed':
      case 'forwarded':
      case 'asked':
        this.state[name] += 1;
        return String(this.state[name]);
      case 'show':
        return JSON.stringify(this.state);
      default:
        throw new Error(`unknown message "${name}"`);
    }
  }

  /** A state, an event, an alarm, a node, a message to a mailbox and one that waits for its reply. */
  async #note({ client, to }: Note): Promise<string> {
    const count = (this.state.keyed[client] ?? 0) + 1;
    this.state.keyed[client] = count;
    this.state.told += 1;
    this.publishEvent('noted', { count: this.state.told });
    this.setAlarm(Date.now(), { id: String(this.state.told), name: 'ring' });
    await agents.sendMessageAsync(to, 'forwarded');
    await agents.sendMessage(to, 'asked');
    await graph.mutate({ set: { 'Entry.of': this.id, 'Entry.text': `${client} ${count}` } });
    return String(count);
  }

  override onAlarm(): void {
    this.state.rung += 1;
  }
}

agents.register(LedgerAgent);
