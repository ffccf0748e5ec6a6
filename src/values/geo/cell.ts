import { type Box, type Edge, edgesOf, type Position, placeInPolygon, type Rings } from './shape.js';

/** One square of a grid that halves longitude and latitude at each level. */
export interface Cell {
  readonly level: number;
  readonly x: number;
  readonly y: number;
}

/** A place that can say how a box lies to it. */
export interface Region {
  relation(box: Box): 'out' | 'partial' | 'in';
}

const COARSEST = 2;
/** about 150 m by 75 m at the equator */
const FINEST = 18;
const MOST_CELLS = 24;

export function cellBox({ level, x, y }: Cell): Box {
  const [width, height] = [360 / 2 ** level, 180 / 2 ** level];
  return {
    west: -180 + x * width,
    east: -180 + (x + 1) * width,
    south: -90 + y * height,
    north: -90 + (y + 1) * height,
  };
}

/** The finest cell of a point. */
export function pointCell(p: Position): Cell {
  const count = 2 ** FINEST;
  const clip = (share: number): number => Math.min(count - 1, Math.max(0, Math.floor(share * count)));
  return { level: FINEST, x: clip((p[0] + 180) / 360), y: clip((p[1] + 90) / 180) };
}

/** The cells that hold a cell, its own left out, down to the coarsest that is indexed. */
export function ancestors({ level, x, y }: Cell): Cell[] {
  return Array.from({ length: level - COARSEST }, (_, i) => {
    const up = i + 1;
    return { level: level - up, x: Math.floor(x / 2 ** up), y: Math.floor(y / 2 ** up) };
  });
}

function children({ level, x, y }: Cell): Cell[] {
  return [0, 1, 2, 3].map((i) => ({ level: level + 1, x: x * 2 + (i & 1), y: y * 2 + (i >> 1) }));
}

function coarsest(): Cell[] {
  const count = 2 ** COARSEST;
  return Array.from({ length: count * count }, (_, i) => ({
    level: COARSEST,
    x: i % count,
    y: Math.floor(i / count),
  }));
}

/** Cells that together hold a region: the coarsest cell at its border is cut finer until there are too many. */
export function cover(region: Region): Cell[] {
  const open: Cell[] = [];
  const done: Cell[] = [];
  const place = (cell: Cell): void => {
    const relation = region.relation(cellBox(cell));
    if (relation === 'in' || (relation === 'partial' && cell.level === FINEST)) done.push(cell);
    else if (relation === 'partial') open.push(cell);
  };
  coarsest().forEach(place);
  while (open.length > 0) {
    const cell = open.shift() as Cell;
    const before = open.length + done.length;
    const [opened, finished] = [open.length, done.length];
    children(cell).forEach(place);
    if (open.length + done.length <= Math.max(MOST_CELLS, before + 1)) continue;
    open.length = opened;
    done.length = finished;
    done.push(cell);
  }
  return done;
}

/** Any of several boxes. */
export function boxRegion(boxes: readonly Box[]): Region {
  return {
    relation(box) {
      if (boxes.some((b) => b.west <= box.west && b.east >= box.east && b.south <= box.south && b.north >= box.north)) {
        return 'in';
      }
      const meets = boxes.some(
        (b) => b.west <= box.east && b.east >= box.west && b.south <= box.north && b.north >= box.south,
      );
      return meets ? 'partial' : 'out';
    },
  };
}

/** Any of several polygons, borders included. */
export function polygonRegion(polygons: readonly Rings[]): Region {
  const parts = polygons.map((rings) => ({ rings, edges: edgesOf(rings) }));
  return {
    relation(box) {
      if (parts.some(({ edges }) => edges.some((edge) => meetsBox(edge, box)))) return 'partial';
      const middle = [(box.west + box.east) / 2, (box.south + box.north) / 2];
      return parts.some(({ rings }) => placeInPolygon(middle, rings) >= 0) ? 'in' : 'out';
    },
  };
}

/** degrees by which a box is taken larger, as rounding must never leave a match out */
const MARGIN = 1e-9;

/** An edge has a point in a box (Liang and Barsky's clipping). */
function meetsBox([a, b]: Edge, box: Box): boolean {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  let [from, to] = [0, 1];
  const borders = [
    [-dx, a[0] - box.west + MARGIN],
    [dx, box.east - a[0] + MARGIN],
    [-dy, a[1] - box.south + MARGIN],
    [dy, box.north - a[1] + MARGIN],
  ];
  for (const [step, room] of borders) {
    if (step === 0 && room < 0) return false;
    if (step < 0) from = Math.max(from, room / step);
    if (step > 0) to = Math.min(to, room / step);
  }
  return from <= to;
}
