export {
  emptyRequest,
  isMutationText,
  nquadSteps,
  parseConditionText,
  type ParseMutationOptions,
  parseMutationSteps,
} from './mutation.js';
export { neededVariables } from './needed.js';
export { type ParseQueryOptions, parseQuery, parseQuerySteps } from './query.js';
