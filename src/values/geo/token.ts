import type { Place } from '../contract.js';
import { ancestors, type Cell, cover, pointCell, polygonRegion, type Region } from './cell.js';
import { polygonsOf } from './shape.js';

/** Two families of tokens: the cells that cover a geometry, and the cells that hold those. */
const COVER = 1;
const ANCESTOR = 2;

function token(family: number, { level, x, y }: Cell): Uint8Array {
  const bytes = new Uint8Array(8);
  bytes[0] = family;
  bytes[1] = level;
  for (let i = 0; i < 3; i++) {
    bytes[4 - i] = x >> (8 * i);
    bytes[7 - i] = y >> (8 * i);
  }
  return bytes;
}

function cellsOf(geometry: Place): Cell[] {
  if (geometry.type === 'Point') return [pointCell(geometry.coordinates)];
  return cover(polygonRegion(polygonsOf(geometry)));
}

/** Index tokens of a geometry; repeats are possible. */
export function geometryTokens(geometry: Place): Uint8Array[] {
  const tokens: Uint8Array[] = [];
  for (const cell of cellsOf(geometry)) {
    tokens.push(token(COVER, cell));
    for (const above of ancestors(cell)) tokens.push(token(ANCESTOR, above));
  }
  return tokens;
}

/** Tokens of everything whose cells meet those of a geometry or region: the same cell, a finer one in it, a coarser one around it. */
export function meetingTokens(place: Place | Region): Uint8Array[] {
  const cells = 'relation' in place ? cover(place) : cellsOf(place);
  return cells.flatMap((cell) => [
    token(COVER, cell),
    token(ANCESTOR, cell),
    ...ancestors(cell).map((above) => token(COVER, above)),
  ]);
}
