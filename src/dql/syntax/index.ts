export * from './mutation.js';
export * from './query.js';
