import type { Place } from '../contract.js';
import { ancestors, type Cell, children, cover, pointCell, polygonRegion, type Region } from './cell.js';
import { polygonsOf } from './shape.js';

/** Two families of tokens: the cells that cover a geometry, and some of the cells that hold those. */
const COVER = 1;
const ANCESTOR = 2;
/** Of the cells that hold others each third level is kept: a point stands under 6 tokens, not 17, for a search that looks two levels deeper. */
const KEPT = 3;

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
    for (const above of ancestors(cell)) if (above.level % KEPT === 0) tokens.push(token(ANCESTOR, above));
  }
  return tokens;
}

/** Tokens of everything whose cells meet those of a geometry or region: the same cell, a finer one in it, a coarser one around it. */
export function meetingTokens(place: Place | Region): Uint8Array[] {
  const cells = 'relation' in place ? cover(place) : cellsOf(place);
  return cells.flatMap((cell) => [...tokensIn(cell), ...ancestors(cell).map((above) => token(COVER, above))]);
}

/** The cells of a cell down to the next level that is kept, where what is finer stands under those that hold it. */
function tokensIn(cell: Cell): Uint8Array[] {
  const tokens = [token(COVER, cell)];
  let cells = [cell];
  for (let { level } = cell; level % KEPT !== 0; level++) {
    cells = cells.flatMap(children);
    tokens.push(...cells.map((below) => token(COVER, below)));
  }
  return [...tokens, ...cells.map((below) => token(ANCESTOR, below))];
}
