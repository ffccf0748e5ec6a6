export { checkDql } from './check-dql.js';
export { checkRemotes } from './check-remote.js';
export { createCustomLogic } from './create.js';
