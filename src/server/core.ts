import type { FastifyBaseLogger } from 'fastify';
import type { Api } from '../api/index.js';
import type { Limits, Names, Trace } from '../base/index.js';
import type { Committer } from '../commit/index.js';
import type { DqlEngine } from '../dql/index.js';
import type { AlterRequest, Graph } from '../graph/index.js';
import type { Store } from '../store/index.js';
import type { Draining } from './draining.js';
import type { Forwarder } from './forward/index.js';
import type { EventStreams } from './event-streams.js';
import type { ApiKeys } from './keys.js';
import type { SharedStreams } from './shared-streams.js';
import type { Answering, Gone } from './signal.js';

/** What the routes need of the rooms below; made once by `openService`. */
export interface Core {
  readonly store: Store;
  readonly committer: Committer;
  readonly graph: Graph;
  readonly dql: DqlEngine;
  readonly api: Api;
  /** In a service that only reads: once all that was committed before is shown here, and its types are served. */
  readonly caughtUp?: () => Promise<void>;
  /** In a service that only reads and knows the one that writes. */
  readonly forwarder?: Forwarder;
  readonly names: Names;
  readonly limits: Limits;
  readonly keys: ApiKeys;
  readonly log: FastifyBaseLogger;
  readonly trace: Trace;
  readonly draining: Draining;
  readonly streams: EventStreams;
  readonly shared: SharedStreams;
  /** alter, and with drop_all the GraphQL types that were served go too */
  alter(request: AlterRequest, options: { readonly runInBackground: boolean }): Promise<void>;
  /** aborted when the client goes away before its answer, and at shutdown */
  signalOf(answering: Answering): AbortSignal;
  /** the same for work that looks now and then */
  goneOf(answering: Answering): Gone;
}
