export { checkTriples } from './changes.js';
export { placed } from './place.js';
export { resolveMutation } from './resolve.js';
