export type * from './contract.js';
export type * from './execute/custom-logic.js';
export type * from './operation.js';
