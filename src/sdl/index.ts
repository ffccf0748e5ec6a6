export { derivedSchema } from './derived-schema.js';
export { isDirective, OWN_DIRECTIVES } from './directive-definition.js';
export { READABLE, type Variables } from './from-environment.js';
export { hideSecrets } from './hide-secret.js';
export { inOrderOfPlace, loadModel, readModel, readModelInSteps } from './load.js';
export type * from './model.js';
export { isAbout } from './sound-part.js';
export { placeInString } from './string-place.js';
export { type BodyNode, parseBodyTemplate, parseUrlTemplate } from './template.js';
