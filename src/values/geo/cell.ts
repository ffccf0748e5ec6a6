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

function cellBox({ level, x, y }: Cell): Box {
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
  const above: Cell[] = [];
  for (let up = 1; up <= level - COARSEST; up++) above.push({ level: level - up, x: x >> up, y: y >> up });
  return above;
}

/** The four cells of a cell. */
export function children({ level, x, y }: Cell): Cell[] {
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
  const [west, east] = [box.west - MARGIN, box.east + MARGIN];
  const [south, north] = [box.south - MARGIN, box.north + MARGIN];
  // most edges lie wholly to one side
  if ((a[0] < west && b[0] < west) || (a[0] > east && b[0] > east)) return false;
  if ((a[1] < south && b[1] < south) || (a[1] > north && b[1] > north)) return false;
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const across = clip(0, 1, dx, west - a[0], east - a[0]);
  if (!across) return false;
  return clip(across[0], across[1], dy, south - a[1], north - a[1]) !== undefined;
}

/** The part of [from, to] in which a step of `d` stays between `low` and `high`. */
function clip(from: number, to: number, d: number, low: number, high: number): readonly [number, number] | undefined {
  if (d === 0) return low <= 0 && high >= 0 ? [from, to] : undefined;
  const [first, last] = d > 0 ? [low / d, high / d] : [high / d, low / d];
  const [start, end] = [Math.max(from, first), Math.min(to, last)];
  return start <= end ? [start, end] : undefined;
}
