export type * from './contract.js';
export { buildApp, loadApp, readOperations } from './load-app.js';
export { dateTimeScalar, int64Scalar, jsonScalar } from './scalar.js';
