export { checkTriples } from './changes.js';
export { placed } from './place.js';
export { type ResolvedMutation, type ResolveOptions, resolveMutation } from './resolve.js';
