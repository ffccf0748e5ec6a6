import type { Clock, Limits, Trace } from '../../base/index.js';
import type { Committer } from '../../commit/index.js';
import type { Activation } from '../activation.js';
import type { Job } from '../job.js';
import type { Contended } from '../contended.js';
import type { GraphCalls, HostLog } from '../contract.js';
import type { EventHub } from '../event-hub.js';
import type { HostPool } from '../process/host-pool.js';
import type { Rpc } from '../protocol.js';

/** What turns run with. */
export interface RunnerOptions {
  readonly committer: Committer;
  readonly hosts: HostPool;
  readonly graph: GraphCalls | undefined;
  readonly contended: Contended;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly hub: EventHub;
  readonly trace: Trace;
  readonly log: (entry: HostLog) => void;
  /** the service stops: what ends now may have been cut off by that */
  readonly closing: () => boolean;
  /** what a turn asks of other agents */
  readonly rpc: (activation: Activation, job: Job, rpc: Rpc) => Promise<unknown>;
}
