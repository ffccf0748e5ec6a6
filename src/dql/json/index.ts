export { type JsonFileOptions, parseJsonTriples } from './file.js';
export { parseJsonMutation, parseJsonMutationSteps } from './request.js';
export { type JsonNode, scanJson } from './scan.js';
export { type JsonTripleOptions, JsonTriples } from './triples.js';
