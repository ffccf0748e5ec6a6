export { openTrace } from './open-telemetry.js';
export { traceRequests } from './requests.js';
export { tracedApi, tracedClient, tracedCommitter, tracedDql } from './rooms.js';
