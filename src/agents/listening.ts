import { GraphsteadError, opened } from '../base/index.js';
import type { AgentEvent, EventsRequest, Hosts, Listener } from './contract.js';
import { guardOf } from './protocol.js';
import { unknownAgent } from './refusal.js';
import { failureText } from './wire-failure.js';
import type { AgentLog } from './queues.js';
import type { Head } from './stored.js';

interface ListeningOptions {
  readonly hosts: Pick<Hosts, 'call' | 'manifest'>;
  readonly log: AgentLog;
  readonly head: (agentId: string) => Promise<Head | undefined>;
  readonly batches: (request: EventsRequest) => AsyncIterable<readonly AgentEvent[]>;
}

/** Who may listen to an agent: whoever knows its id, unless its class says who. */
export class Listening {
  constructor(readonly options: ListeningOptions) {}

  /** See Agents. */
  batches(request: EventsRequest, listener: Listener): AsyncIterable<readonly AgentEvent[]> {
    return opened(async () => {
      await this.#admit(request, listener);
      return this.options.batches(request);
    });
  }

  async #admit({ agentId, signal }: EventsRequest, { requestId, claims }: Listener): Promise<void> {
    const { hosts, head, log } = this.options;
    const name = (await head(agentId))?.type;
    // one that is started between this look and the next would be heard without having been asked about
    if (name === undefined) throw unknownAgent(agentId);
    const type = hosts.manifest?.agentTypes.find((one) => one.name === name);
    // what it said while there was one is not known any more
    if (type === undefined) throw refused(agentId, `no class is registered as ${name} any more`);
    if (!type.mayListen) return;
    const asked = { name: guardOf(name), args: [agentId], requestId, claims, signal, readOnly: true };
    const answer = await hosts.call(asked).catch((error: unknown) => {
      log('error', `${guardOf(name)} failed: ${failureText(error)}`, agentId, requestId);
      throw error;
    });
    if (answer !== true) throw refused(agentId, `${guardOf(name)} did not say true`);
  }
}

function refused(agentId: string, why: string): GraphsteadError {
  return new GraphsteadError('FORBIDDEN', `the events of agent "${agentId}" are not for this caller: ${why}`, {
    fix: 'send the token of somebody who may listen',
    details: { agentId },
  });
}
