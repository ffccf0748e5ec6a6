export { uidText } from './field.js';
export { type WriteOptions, writeJson, writeJsonInSteps } from './json.js';
export { writeRdf } from './rdf.js';
export { WrittenPlaces } from './written.js';
