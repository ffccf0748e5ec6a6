import type { ResolvedConnections } from '../resolve.js';

/** Replies one after the other, or a function of what was asked. */
export type Script<Call, Reply> = readonly Reply[] | ((call: Call) => Reply | Promise<Reply>);

/** What stands in for something outside, on a free port of this machine, as the real one would answer. */
export interface Scripted<Call> {
  /** all calls so far, oldest first */
  readonly calls: readonly Call[];
  /** The same connections, with what is scripted in its place. */
  redirect(resolved: ResolvedConnections): ResolvedConnections;
  close(): Promise<void>;
}

/** What each call is answered with, by the script of its name; calls are kept. An Error may be a reply. */
export class Replies<Call, Reply> {
  readonly calls: Call[] = [];
  readonly #counts = new Map<string, number>();

  /** @param what the scripts stand for, in messages */
  constructor(
    readonly what: string,
    readonly scripts: Readonly<Record<string, Script<Call, Reply>>>,
  ) {}

  /** Throws what the script throws, and where it has no more replies. */
  async to(name: string, call: Call): Promise<Reply> {
    this.calls.push(call);
    const script = this.scripts[name];
    if (typeof script === 'function') return script(call);
    const index = this.#counts.get(name) ?? 0;
    this.#counts.set(name, index + 1);
    if (index < script.length) return script[index];
    throw new Error(`the script of ${this.what} "${name}" has ${script.length} replies, no more`);
  }
}
