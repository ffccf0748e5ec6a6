export { BUNDLING, bundleErrors } from './bundle.js';
export type * from './contract.js';
export { buildApp, isBuilt, loadApp } from './load-app.js';
export { packagesOutside } from './packages.js';
export { jsonScalar } from './scalar.js';
