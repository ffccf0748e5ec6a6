export {
  bigAdd,
  bigCeil,
  bigDivide,
  bigFloor,
  bigMultiply,
  bigSqrt,
  bigSubtract,
  bigToNumber,
  parseBigFloat,
} from './bigfloat.js';
export { compareTexts, compareValues } from './compare.js';
export type * from './contract.js';
export { convert, convertWhole } from './convert.js';
export { dateTimeFromSeconds, formatDateTime, parseDateTime } from './date-time.js';
export { isPlace, parseGeometry, shapeOf } from './geo/geojson.js';
export { geoQueryTokens, matchesGeoInSteps } from './geo/query.js';
export { langBase } from './language/base.js';
export { fullTextTerms, stemPieces } from './language/full-text.js';
export { piecesOf } from './language/piece.js';
export { termsOf, wordPieces } from './language/word.js';
export { literalIri, parseLiteral, TYPE_NAMES, typeNamed } from './literal.js';
export { type OrderKind, orderKind, orderNumber } from './order-number.js';
export { checkPassword, hashPasswordAside, isPasswordHash } from './password.js';
export {
  compareStored,
  decodeValue,
  decodeValueIn,
  encodeValue,
  readStoredInteger,
  storedType,
  writeValue,
} from './stored-value.js';
export {
  indexKindNamed,
  indexKindsOf,
  queryTokens,
  tokenizer,
  tokenPieces,
  tokensOf,
  tokenTexts,
  trigramToken,
} from './token/tokenizer.js';
export { isHashedToken, TOKEN_BYTES } from './token/hash.js';
export { valueText } from './value-text.js';
export { distanceBetween, VectorPoint, vectorDistance } from './distance/distance.js';
export { parseVector } from './vector.js';
export { compilePattern, requiredTrigrams } from './pattern/compile.js';
