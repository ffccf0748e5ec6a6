export { createAgents } from './agents.js';
export { agentsApplier } from './apply/applier.js';
export type * from './contract.js';
export { eventOperation } from './event-operation.js';
export { type GraphqlCall, graphCalls } from './graph-calls.js';
export { createHosts, type HostPool } from './process/host-pool.js';
export { typedArguments, typedValue } from './typed-reply.js';
export { failureText } from './wire-failure.js';
