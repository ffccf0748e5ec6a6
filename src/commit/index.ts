export type { Key, Page, Range, Snapshot } from '../store/index.js';
export type * from './contract.js';
