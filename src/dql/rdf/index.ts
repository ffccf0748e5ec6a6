export { type NQuadLineParser, nquadLineParser, parseNQuadLine, parseNQuads } from './line.js';
export { type NQuadOptions, NQuadReader, type TextSpan } from './reader.js';
