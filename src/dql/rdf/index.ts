export { nquadLineParser, parseNQuadLine, parseNQuads } from './line.js';
export { NQuadReader, type TextSpan } from './reader.js';
