export { parseJsonTriples } from './file.js';
export { parseJsonMutation, parseJsonMutationSteps } from './request.js';
export { scanJson, scanJsonSteps } from './scan.js';
export { JsonTriples } from './triples.js';
