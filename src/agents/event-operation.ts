import { GraphQLList, GraphQLNonNull, GraphQLObjectType, type GraphQLScalarType, GraphQLString } from 'graphql';
import type { Operation, OperationEvent, RequestContext } from '../api/index.js';
import { GraphsteadError, mapped, onceFor } from '../base/index.js';
import type { AgentEvent, Agents } from './contract.js';

/**
 * `agentEvent(agentId, after, names)`: the events of one agent as it publishes them, with ids to resume from.
 * @param json the composed schema's JSON scalar
 */
export function eventOperation(agents: Pick<Agents, 'listen'>, json: GraphQLScalarType): Operation {
  const type = new GraphQLObjectType({
    name: 'AgentEvent',
    description: 'Something that an agent published.',
    fields: {
      name: { type: new GraphQLNonNull(GraphQLString) },
      data: { type: json, description: 'A JSON object; its keys depend on the name.' },
      timestamp: { type: new GraphQLNonNull(GraphQLString), description: 'ISO 8601, UTC.' },
    },
  });
  return {
    name: 'agentEvent',
    kind: 'subscription',
    description: 'Events of one agent, from now on or behind an id.',
    args: {
      agentId: { type: GraphQLString },
      after: {
        type: GraphQLString,
        description: 'Id of the last event seen, or 0 for the oldest that is kept: what came after it is told first.',
      },
      names: {
        type: new GraphQLList(new GraphQLNonNull(GraphQLString)),
        description: 'Only these events. Changes of status (agentStatusUpdated) come only when named.',
      },
    },
    type,
    subscribe: (args, context) => subscribe(agents, args, context),
  };
}

function subscribe(
  agents: Pick<Agents, 'listen'>,
  args: Readonly<Record<string, unknown>>,
  { headers, signal, requestId, claims }: RequestContext,
): AsyncIterable<readonly OperationEvent[]> {
  const agentId = args['agentId'] as string | null | undefined;
  if (agentId === undefined || agentId === null || agentId === '') {
    throw new GraphsteadError('AGENT_ID_MISSING', 'agentEvent needs the agentId whose events to tell', {
      fix: 'agentEvent(agentId: "...") with the id that starting the agent returned',
    });
  }
  // A client that reconnects knows better than its first request where it stands.
  const after = headers['last-event-id'] || (args['after'] as string | null | undefined) || undefined;
  const names = (args['names'] as readonly string[] | null | undefined) ?? undefined;
  return mapped(agents.listen({ agentId, after, names, signal }, { requestId, claims }), asValues);
}

/** Events are the same objects for all their subscribers: what they look like is written once. */
const asValues = onceFor((events: readonly AgentEvent[]): readonly OperationEvent[] => events.map(asValue));

function asValue(event: AgentEvent): OperationEvent {
  return event.id === undefined ? { value: event } : { value: event, id: event.id };
}
