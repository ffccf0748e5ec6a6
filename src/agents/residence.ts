import type { Activation } from './activation.js';
import type { HostPool } from './process/host-pool.js';
import { suspension } from './job.js';
import type { Queues } from './queues.js';
import { STATUS_EVENT } from './own-event.js';
import { failureText } from './wire-failure.js';

const SUSPENDED_AT_ONCE = 1_000;
/** part of one host's heap that states may take as text; as objects they take several times that */
const RESIDENT_SHARE = 0.125;
/** milliseconds that a shutdown waits for running turns and onSuspend */
const DRAIN_MS = 10_000;
/** and a reload: no turn begins meanwhile, and those that take longer end in the process they began in */
const SWAP_MS = 500;

/** Who stays in the hosts' memory, and who leaves it. */
export class Residence {
  #swapping: Promise<unknown> = Promise.resolve();
  /** those whose onSuspend has not ended */
  readonly #leaving = new Set<Promise<void>>();

  constructor(
    readonly queues: Queues,
    readonly hosts: Pick<HostPool, 'manifest'>,
  ) {}

  /** Who was idle for long leaves memory, and the longest idle ones when all states together grow too large for the hosts. */
  suspendIdle(): void {
    if (this.queues.paused) return;
    const { agentIdleMs, hostHeapMb } = this.queues.options.limits;
    const before = this.queues.options.clock.monotonic() - agentIdleMs;
    const idle: Activation[] = [];
    let bytes = 0;
    for (const activation of this.queues.activations.values()) {
      if (activation.host?.dead === true && !activation.busy) this.#lost(activation);
      if (activation.host !== undefined) bytes += residentBytes(activation);
      const rests = !activation.busy && !activation.waiting.some && activation.wake === undefined;
      if (rests) idle.push(activation);
    }
    const budget = hostHeapMb * 1024 * 1024 * RESIDENT_SHARE;
    if (bytes > budget) idle.sort((a, b) => a.lastUsed - b.lastUsed);
    let most = SUSPENDED_AT_ONCE;
    for (const activation of idle) {
      if (activation.lastUsed > before && bytes <= budget) continue;
      if (most-- === 0) return;
      bytes -= residentBytes(activation);
      this.#leave(activation);
    }
  }

  /** The process that held it has ended under it. What it had stored stands, so that its listeners alone are told. */
  #lost(activation: Activation): void {
    activation.host = undefined;
    if (activation.head?.status === 'active') this.#tell(activation, 'suspended');
  }

  #leave(activation: Activation): void {
    const left = this.#suspend(activation).finally(() => this.#leaving.delete(left));
    this.#leaving.add(left);
  }

  async #suspend(activation: Activation): Promise<void> {
    const { host } = activation;
    if (host === undefined || host.dead || activation.head?.status !== 'active') {
      this.queues.forget(activation);
      return;
    }
    const hooks = this.hosts.manifest?.agentTypes.find((type) => type.name === activation.head?.type);
    activation.busy = true;
    activation.passing = 'suspending';
    this.#tell(activation, 'suspending');
    try {
      // Every turn ends with its state stored: without a hook there is nothing left to do.
      if (hooks?.onSuspend === false) host.evict(activation.id);
      else await this.queues.options.runner.run(activation, suspension());
    } catch (error) {
      this.queues.options.log('error', `onSuspend failed: ${failureText(error)}`, activation.id);
    } finally {
      activation.busy = false;
      activation.passing = undefined;
      activation.host = undefined;
      this.#tell(activation, 'suspended');
      if (activation.waiting.some) this.queues.kick(activation);
      else this.queues.forget(activation);
    }
  }

  #tell({ id }: Activation, status: 'suspending' | 'suspended'): void {
    const { hub, clock } = this.queues.options;
    hub.live(id, STATUS_EVENT, JSON.stringify({ status }), clock.wall());
  }

  /** One after the other. */
  swap<T>(load: () => Promise<T>): Promise<T> {
    const swapped = this.#swapping.then(() => this.#swap(load));
    this.#swapping = swapped.catch(() => undefined);
    return swapped;
  }

  async #swap<T>(load: () => Promise<T>): Promise<T> {
    await this.pause(SWAP_MS);
    try {
      return await load();
    } finally {
      this.queues.goOn();
    }
  }

  /** No new turns; running ones end; who is in memory is suspended. Whoever takes too long for it is not waited for. */
  async pause(patienceMs = DRAIN_MS): Promise<void> {
    this.queues.paused = true;
    const patience = new Promise<void>((done) => setTimeout(done, patienceMs).unref());
    if (this.queues.running > 0) {
      const drained = new Promise<void>((done) => {
        this.queues.drained = done;
      });
      await Promise.race([drained, patience]);
      this.queues.drained = undefined;
    }
    for (const activation of [...this.queues.activations.values()]) if (!activation.busy) this.#leave(activation);
    await Promise.race([Promise.all(this.#leaving), patience]);
  }
}

function residentBytes({ head }: Activation): number {
  return 4_096 * (1 + (head?.chunks ?? 0));
}
