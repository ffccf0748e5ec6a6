export { checkRemotes } from './check-remote.js';
export { createCustomLogic, type CustomLogicOptions } from './create.js';
