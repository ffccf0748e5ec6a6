import { Agent, agents } from 'graphstead/app';

interface ReminderState {
  noteId: string;
  minutes: number;
  rung: number;
}

/** An agent lives on through restarts: its state, its alarms and its events are stored together. */
export class Reminder extends Agent<ReminderState> {
  static readonly agentName = 'Reminder';
  /** messages that change nothing: they are answered beside whatever runs */
  static readonly readOnly = ['count'];

  override state: ReminderState = { noteId: '', minutes: 0, rung: 0 };

  override onReceiveMessage(name: string, data?: string) {
    switch (name) {
      case 'remind':
        Object.assign(this.state, JSON.parse(data ?? '{}'));
        this.wait();
        return 'ok';
      case 'count':
        return String(this.state.rung);
      default:
        return super.onReceiveMessage(name, data);
    }
  }

  override onAlarm(): void {
    this.state.rung += 1;
    this.publishEvent('reminded', { noteId: this.state.noteId, times: this.state.rung });
    this.wait();
  }

  private wait(): void {
    this.setAlarm(Date.now() + this.state.minutes * 60_000);
  }
}

agents.register(Reminder);
