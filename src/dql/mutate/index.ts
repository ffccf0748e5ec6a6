export { checkTriples } from './changes.js';
export { type ResolvedMutation, type ResolveOptions, resolveMutation } from './resolve.js';
