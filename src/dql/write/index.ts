export { writeJson, writeJsonInSteps } from './json.js';
export { writeRdfInSteps } from './rdf.js';
export { WrittenPlaces } from './written.js';
