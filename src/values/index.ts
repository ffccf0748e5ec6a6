export {
  bigAdd,
  bigCeil,
  bigCompare,
  bigDivide,
  bigFloor,
  bigMultiply,
  bigSqrt,
  bigSubtract,
  bigToNumber,
  parseBigFloat,
} from './bigfloat.js';
export { compareTexts, compareValues, equalValues } from './compare.js';
export type * from './contract.js';
export { convert } from './convert.js';
export { compareDateTimes, formatDateTime, parseDateTime } from './date-time.js';
export { parseGeometry } from './geo/geojson.js';
export { literalIri, parseLiteral, typeNamed } from './literal.js';
export { checkPassword, hashPassword } from './password.js';
export { compareStored, decodeValue, encodeValue, storedType, writeValue } from './stored-value.js';
export { valueText } from './value-text.js';
export { parseVector, vectorDistance } from './vector.js';
