export {
  Agent,
  type AgentClass,
  type AgentEventValue,
  type AlarmOptions,
  type PublishOptions,
  type Reply,
} from './host/agent.js';
export {
  type AgentRef,
  type AgentRefAsync,
  agents,
  type MessageOptions,
  type Started,
  type StartOptions,
} from './host/agents.js';
export { type Caller, caller } from './host/caller.js';
export { connections, models } from './host/connections.js';
export {
  type GraphAnswer,
  type GraphApi,
  type GraphqlOptions,
  graph,
  type Mutated,
  type Mutation,
} from './host/graph.js';
export type {
  AgentFilter,
  AgentInfo,
  AgentStatus,
  Alarm,
  DeadLetter,
  DeadLetterPage,
  HistoryPage,
  PastState,
} from './info.js';
