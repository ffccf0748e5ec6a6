export { uidText } from './field.js';
export { type WriteOptions, writeJson } from './json.js';
export { writeRdf } from './rdf.js';
