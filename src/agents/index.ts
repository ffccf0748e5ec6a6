export type * from './contract.js';
export { createHosts, type HostPool } from './host-pool.js';
