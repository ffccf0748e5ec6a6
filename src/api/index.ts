export type * from './contract.js';
export type * from './execute/custom-logic.js';
export type * from './operation.js';
export { memberOf, tabletOf } from './admin/member.js';
export { shownRemarks } from './remarks.js';
export { generatedAlone } from './served.js';
export { createApi } from './service.js';
export { GraphQLDateTime, GraphQLFloat, GraphQLInt64 } from './schema/index.js';
