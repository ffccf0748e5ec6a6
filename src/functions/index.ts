export { BUNDLING, bundleErrors } from './bundle.js';
export { isBuilt } from './built-app.js';
export type * from './contract.js';
export { withOthers } from './file-mistakes.js';
export { appMistakes, buildApp, loadApp } from './load-app.js';
export { packagesOutside } from './packages.js';
export { jsonScalar } from './scalar.js';
export { namesIn } from './taken.js';
export { holdsCode, watchSources } from './watch.js';
