export type * from './contract.js';
export type * from './syntax/index.js';
