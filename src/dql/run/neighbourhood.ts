import { inSteps, type MaybePromise, type Steps } from '../../base/index.js';
import type { Facets, UidList } from '../../graph/index.js';
import type { ResultPath } from '../contract.js';
import type { PredicateSelection } from '../syntax/index.js';
import { BATCH } from './batch.js';
import { branch } from './branch.js';
import { readEdges } from './edge.js';
import type { Execution } from './execution.js';
import type { RowFacets } from './facet.js';
import { grown } from './grown.js';
import { UidNumbers } from './uid-numbers.js';
import { placeOf, unionOfRows } from './uid-set.js';

/** The edges of some nodes, side by side: no object for each, since a search may meet millions. */
export interface Edges {
  /** those of the node in a row begin at starts[row] and end at starts[row + 1] */
  readonly starts: Uint32Array;
  /** numbers of the nodes that they lead to */
  readonly to: Int32Array;
  /** what each costs; undefined: 1 */
  readonly costs: Float64Array | undefined;
  /** by which selection each is taken; undefined: by the only one */
  readonly by: Uint16Array | undefined;
}

/** Where the edges of one node stand. */
interface Found {
  edges: Edges;
  edge: number;
  end: number;
}

const NONE: Edges = { starts: new Uint32Array(1), to: new Int32Array(0), costs: undefined, by: undefined };

/** Edges that are numbered between two pauses. */
const AT_ONCE = 8_192;

/** What one selection tells of some nodes. */
interface Reading {
  readonly by: number;
  readonly rows: readonly UidList[];
  readonly facets: RowFacets | undefined;
  /** the facet that an edge costs; undefined: it costs 1 */
  readonly weight: string | undefined;
}

/**
 * The part of the graph around the start, read a whole level of nodes at a time and only as far as it is needed. Nodes
 * go by number. Behind the end nothing is read.
 */
export class Neighbourhood {
  readonly start: number;
  readonly end: number;
  readonly #numbers = new UidNumbers();
  readonly #parts: Edges[] = [];
  /** by node: one more than the part in which its edges stand, and in which row */
  #partOf = new Int32Array(1);
  #rowOf = new Int32Array(1);
  /** by node: where an edge to it was put last */
  #lastTo = new Int32Array(1);
  #frontier: UidList;
  #level = 0;
  readonly #found: Found = { edges: NONE, edge: 0, end: 0 };

  constructor(
    { from, to }: { readonly from: number; readonly to: number },
    readonly selections: readonly PredicateSelection[],
    readonly depth: number,
    readonly execution: Execution,
  ) {
    this.start = this.#numbers.of(from);
    this.end = this.#numbers.of(to);
    this.#frontier = Float64Array.of(from);
  }

  /** Whether each edge costs 1. */
  get isFree(): boolean {
    return this.selections.every((selection) => weightOf(selection) === undefined);
  }

  uid(node: number): number {
    return this.#numbers.uids[node];
  }

  /** The edges of a node, until the next call; none for a node past the depth. Most are known already: no promise for those. */
  find(node: number): MaybePromise<Found> {
    return this.#knows(node) ? this.#seek(node) : this.#read(node);
  }

  /** One edge of a node, with what it holds: that is asked of few, and not kept. */
  async edge(node: number, edge: number): Promise<ResultPath['edges'][number]> {
    const { to, by } = this.#parts[this.#partOf[node] - 1];
    const selection = this.selections[by === undefined ? 0 : by[edge]];
    const predicate = this.execution.predicate(selection.name);
    if (!selection.facets || !predicate) return { selection };
    const options = { reverse: selection.reverse, facets: true };
    const read = await this.execution.reader.edges(predicate, Float64Array.of(this.uid(node)), options);
    const facets = read.facets?.[0][placeOf(read.rows[0], this.uid(to[edge]))];
    return facets ? { selection, facets } : { selection };
  }

  #knows(node: number): boolean {
    return node < this.#partOf.length && this.#partOf[node] > 0;
  }

  #seek(node: number): Found {
    const found = this.#found;
    const row = this.#rowOf[node];
    found.edges = this.#parts[this.#partOf[node] - 1];
    found.edge = found.edges.starts[row];
    found.end = found.edges.starts[row + 1];
    return found;
  }

  async #read(node: number): Promise<Found> {
    while (!this.#knows(node) && this.#frontier.length > 0 && this.#level < this.depth) await this.#grow();
    return this.#knows(node) ? this.#seek(node) : { edges: NONE, edge: 0, end: 0 };
  }

  async #grow(): Promise<void> {
    const known = this.#numbers.size;
    this.#level++;
    // what passes a filter is asked of all at once: an index may be read for it
    const step = this.selections.some(({ filter }) => filter) ? this.#frontier.length : BATCH;
    for (let at = 0; at < this.#frontier.length; at += step) await this.#add(this.#frontier.subarray(at, at + step));
    const reached: UidList[] = [];
    const { size, uids } = this.#numbers;
    for (let at = known; at < size; at += BATCH) reached.push(uids.subarray(at, Math.min(at + BATCH, size)));
    this.#frontier = await inSteps(unionOfRows(reached), () => this.execution.checkpoint());
  }

  async #add(nodes: UidList): Promise<void> {
    const readings: Reading[] = [];
    for (const [by, selection] of this.selections.entries()) {
      const predicate = this.execution.predicate(selection.name);
      if (predicate?.type !== 'uid') continue;
      const read = branch(selection, nodes, predicate);
      await readEdges(read, selection, predicate, this.execution);
      readings.push({ by, rows: read.rows ?? [], facets: read.rowFacets, weight: weightOf(selection) });
    }
    this.#parts.push(await inSteps(this.#edgesOf(nodes, readings), () => this.execution.checkpoint()));
    const part = this.#parts.length;
    this.#partOf = grown(this.#partOf, this.#numbers.size);
    this.#rowOf = grown(this.#rowOf, this.#numbers.size);
    for (let row = 0; row < nodes.length; row++) {
      const node = this.#numbers.of(nodes[row]);
      this.#partOf[node] = part;
      this.#rowOf[node] = row;
    }
  }

  *#edgesOf(nodes: UidList, readings: readonly Reading[]): Steps<Edges> {
    let total = 0;
    for (const { rows } of readings) for (const row of rows) total += row.length;
    const edges: Edges = {
      starts: new Uint32Array(nodes.length + 1),
      to: new Int32Array(total),
      costs: this.isFree ? undefined : new Float64Array(total).fill(1),
      by: this.selections.length === 1 ? undefined : new Uint16Array(total),
    };
    let filled = 0;
    let left = AT_ONCE;
    for (let row = 0; row < nodes.length; row++) {
      for (const reading of readings) {
        const { length } = reading.rows[row];
        for (let at = 0; at < length; at += AT_ONCE) {
          const to = Math.min(at + AT_ONCE, length);
          filled = this.#put(edges, reading, { row, from: at, to }, filled);
          left -= to - at;
          if (left > 0) continue;
          left = AT_ONCE;
          yield;
        }
      }
      edges.starts[row + 1] = filled;
    }
    return edges;
  }

  /**
   * Puts edges of a node behind those that are there; answers how many there are then. Of two ways over the same step the cheaper
   * one counts, of equal ones the one named last.
   */
  #put(
    edges: Edges,
    { by, rows, facets, weight }: Reading,
    { row, from, to }: { readonly row: number; readonly from: number; readonly to: number },
    count: number,
  ): number {
    const uids = rows[row];
    const start = edges.starts[row];
    let filled = count;
    for (let i = from; i < to; i++) {
      const cost = weight === undefined ? 1 : costOf(weight, facets?.[row][i]);
      if (cost === undefined) continue;
      const node = this.#numbers.of(uids[i]);
      let edge = filled;
      if (edges.by !== undefined) {
        if (node >= this.#lastTo.length) this.#lastTo = grown(this.#lastTo, node + 1);
        const last = this.#lastTo[node];
        if (last >= start && last < filled && edges.to[last] === node) edge = last;
        if (edge < filled && edges.costs !== undefined && edges.costs[edge] < cost) continue;
        this.#lastTo[node] = edge;
        edges.by[edge] = by;
      }
      edges.to[edge] = node;
      if (edges.costs !== undefined) edges.costs[edge] = cost;
      if (edge === filled) filled++;
    }
    return filled;
  }
}

/** The facet that holds what an edge costs; undefined: each costs 1. */
function weightOf({ facets }: PredicateSelection): string | undefined {
  return facets?.keys[0]?.key;
}

/** undefined: the edge cannot be taken */
function costOf(weight: string, facets: Facets | undefined): number | undefined {
  const value = facets?.find((facet) => facet.key === weight)?.value;
  if (value?.type !== 'int' && value?.type !== 'float') return undefined;
  return Number(value.value);
}
