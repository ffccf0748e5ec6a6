export { bundleErrors } from './bundle.js';
export type * from './contract.js';
export { buildApp, isBuilt, loadApp } from './load-app.js';
export { jsonScalar } from './scalar.js';
