export { nquadLineParser } from './line.js';
export { NQuadReader, type TextSpan } from './reader.js';
