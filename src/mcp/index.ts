export type { McpEndpoint } from './contract.js';
export { createMcp } from './endpoint.js';
