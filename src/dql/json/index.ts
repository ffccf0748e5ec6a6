export { parseJsonMutation } from './request.js';
export { type JsonNode, scanJson } from './scan.js';
export { type JsonTripleOptions, JsonTriples } from './triples.js';
