export { parseJsonTriples } from './file.js';
export { parseJsonMutationSteps } from './request.js';
export { scanJson, scanJsonSteps } from './scan.js';
export { JsonTriples } from './triples.js';
