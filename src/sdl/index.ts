export { derivedSchema, predicatesOf } from './derived-schema.js';
export { isDirective } from './directive-definition.js';
export { hideSecrets } from './hide-secret.js';
export { inOrderOfPlace, type LoadOptions, loadModel, type ReadModel, readModel } from './load.js';
export type * from './model.js';
export { isAbout } from './sound-part.js';
export { placeInString } from './string-place.js';
export {
  type BodyNode,
  type BodyTemplate,
  parseBodyTemplate,
  parseUrlTemplate,
  type UrlParameter,
  type UrlPart,
  type UrlTemplate,
} from './template.js';
