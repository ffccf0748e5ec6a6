export type * from './operation.js';
