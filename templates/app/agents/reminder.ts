import { Agent, agents, type Int } from 'graphstead/app';

interface ReminderState {
  noteId: string;
  minutes: number;
  rung: number;
}

/** An agent lives on through restarts: its state, its alarms and its events are stored together. */
export class Reminder extends Agent<ReminderState> {
  static readonly agentName = 'Reminder';
  /** methods that answer messages of their name */
  static readonly handlers = ['remind', 'count'] as const;
  /** messages that change nothing: they are answered beside whatever runs */
  static readonly readOnly = ['count'];

  override state: ReminderState = { noteId: '', minutes: 0, rung: 0 };

  remind(noteId: string, minutes: number): void {
    Object.assign(this.state, { noteId, minutes });
    this.wait();
  }

  /**
   * How often it has rung so far. Clients may ask it themselves, as the tag makes it an operation: `reminderCount`.
   * @query
   */
  count(): Int {
    return this.state.rung as Int;
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
