import Graph from 'graphology';
import forceAtlas2 from 'graphology-layout-forceatlas2';
import ForceLayout from 'graphology-layout-forceatlas2/worker';
import Sigma from 'sigma';
import { EdgeLineProgram, NodePointProgram } from 'sigma/rendering';
import type { PictureData } from './nodes';

const PALETTE = ['#3d8bd4', '#2f9e77', '#d9822b', '#9b5fc0', '#c9485b', '#7a8b2f', '#2b9aa6', '#a5673f'];
const UNTYPED = '#8a9299';
/** up to here the layout is finished before the first frame, so that nothing moves */
const AT_ONCE = 400;
/** from here on nodes are points and edges thin lines, which cost a third */
const LARGE = 1_500;
/** pixels that the details of a node cover at the right */
const DETAILS = 310;

export interface Colours {
  readonly text: string;
  readonly panel: string;
  readonly edge: string;
  /** edges of the node that is looked at */
  readonly strong: string;
  readonly faint: string;
}

/** The picture on its canvas: sigma draws, ForceAtlas2 places in a worker of its own. */
export class Drawing {
  readonly #graph = new Graph({ multi: true, type: 'directed' });
  readonly #sigma: Sigma;
  readonly #types: string[] = [];
  #layout: ForceLayout | undefined;
  #stop = 0;
  #hovered: string | undefined;
  #selected: string | undefined;
  #near = new Set<string>();
  #colours: Colours;

  /** Throws where the browser has no WebGL. */
  constructor(place: HTMLElement, colours: Colours, onPick: (uid: string | undefined) => void) {
    this.#colours = colours;
    this.#sigma = new Sigma(this.#graph, place, {
      allowInvalidContainer: true,
      labelFont: 'system-ui, sans-serif',
      labelSize: 12,
      labelDensity: 0.6,
      labelRenderedSizeThreshold: 5,
      labelColor: { color: colours.text },
      defaultEdgeType: 'arrow',
      nodeProgramClasses: { point: NodePointProgram },
      edgeProgramClasses: { thin: EdgeLineProgram },
      zIndex: true,
      minCameraRatio: 0.02,
      maxCameraRatio: 4,
      defaultDrawNodeHover: (context, data, settings) => this.#drawHover(context, data, settings.labelSize),
      nodeReducer: (node, data) => this.#reduceNode(node, data),
      edgeReducer: (edge, data) => this.#reduceEdge(edge, data),
    });
    this.#sigma.on('enterNode', ({ node }) => this.#hover(node));
    this.#sigma.on('leaveNode', () => this.#hover(undefined));
    this.#sigma.on('clickNode', ({ node }) => onPick(node));
    this.#sigma.on('clickStage', () => onPick(undefined));
  }

  colour(colours: Colours): void {
    this.#colours = colours;
    this.#sigma.setSetting('labelColor', { color: colours.text });
    this.#sigma.refresh();
  }

  /** Types in the picture with their colours. */
  legend(): readonly { readonly type: string; readonly colour: string }[] {
    return this.#types.map((type, i) => ({ type, colour: PALETTE[i % PALETTE.length] }));
  }

  get order(): number {
    return this.#graph.order;
  }

  /** Adds what is new; new nodes start beside a neighbour that already has a place. */
  show({ nodes, edges }: PictureData): void {
    const graph = this.#graph;
    const fresh: string[] = [];
    for (const node of nodes.values()) {
      const look = { label: node.label, color: this.#colourOf(node.types[0]) };
      if (graph.hasNode(node.uid)) graph.mergeNodeAttributes(node.uid, look);
      else {
        graph.addNode(node.uid, { ...look, x: 0, y: 0, size: 4 });
        fresh.push(node.uid);
      }
    }
    for (const [key, { from, to, predicate }] of edges) {
      if (!graph.hasNode(from) || !graph.hasNode(to) || graph.hasEdge(key)) continue;
      graph.addEdgeWithKey(key, from, to, { label: predicate, size: 1 });
    }
    const begins = fresh.length === graph.order;
    const unplaced = begins ? undefined : new Set(fresh);
    for (const [i, uid] of fresh.entries()) this.#place(uid, i, fresh.length, unplaced);
    graph.forEachNode((uid) => graph.setNodeAttribute(uid, 'size', sizeOf(graph.degree(uid), graph.order)));
    const large = graph.order > LARGE;
    this.#sigma.setSetting('defaultNodeType', large ? 'point' : 'circle');
    this.#sigma.setSetting('defaultEdgeType', large ? 'thin' : 'arrow');
    this.#sigma.setSetting('hideEdgesOnMove', graph.size > (drawnBySoftware() ? LARGE : 20_000));
    this.#arrange(fresh.length, begins);
    this.#look();
  }

  select(uid: string | undefined): void {
    this.#selected = uid;
    this.#look();
  }

  /** Moves a node to the middle of what the details leave free. */
  focus(uid: string): void {
    const at = this.#sigma.getNodeDisplayData(uid);
    if (!at) return;
    const { width, height } = this.#sigma.getDimensions();
    const ratio = 0.5;
    const aside = (Math.min(DETAILS, width * 0.6) / 2 / Math.min(width, height)) * ratio;
    void this.#sigma.getCamera().animate({ x: at.x + aside, y: at.y, ratio }, { duration: calm() ? 0 : 350 });
  }

  zoom(by: number): void {
    const camera = this.#sigma.getCamera();
    void camera.animate({ ratio: camera.getBoundedRatio(camera.ratio * by) }, { duration: calm() ? 0 : 200 });
  }

  fit(): void {
    void this.#sigma.getCamera().animatedReset({ duration: calm() ? 0 : 300 });
  }

  end(): void {
    window.clearTimeout(this.#stop);
    this.#layout?.kill();
    this.#sigma.kill();
  }

  #colourOf(type: string | undefined): string {
    if (type === undefined) return UNTYPED;
    let at = this.#types.indexOf(type);
    if (at < 0) at = this.#types.push(type) - 1;
    return PALETTE[at % PALETTE.length];
  }

  #place(uid: string, i: number, count: number, fresh: ReadonlySet<string> | undefined): void {
    const graph = this.#graph;
    const beside = fresh && graph.neighbors(uid).find((other) => !fresh.has(other));
    // A sunflower: even, and the same at every run.
    const angle = i * 2.399963;
    const radius = beside ? 6 + Math.sqrt(i) * 2 : Math.sqrt(i / count) * 100;
    const x = beside ? graph.getNodeAttribute(beside, 'x') : 0;
    const y = beside ? graph.getNodeAttribute(beside, 'y') : 0;
    graph.mergeNodeAttributes(uid, { x: x + Math.cos(angle) * radius, y: y + Math.sin(angle) * radius });
  }

  #arrange(fresh: number, begins: boolean): void {
    const graph = this.#graph;
    if (graph.order < 2 || fresh === 0) return;
    const slowDown = graph.order > LARGE ? 1.5 : 6;
    const settings = { ...forceAtlas2.inferSettings(graph), adjustSizes: false, gravity: 0.6, slowDown };
    this.#layout?.kill();
    window.clearTimeout(this.#stop);
    if (graph.order <= AT_ONCE && begins) {
      forceAtlas2.assign(graph, { iterations: 400, settings });
      return;
    }
    this.#layout = new ForceLayout(graph, { settings });
    this.#layout.start();
    const ms = begins ? Math.min(2_000 + graph.order * 1.6, 12_000) : 1_200;
    this.#stop = window.setTimeout(() => this.#layout?.stop(), ms);
  }

  #hover(uid: string | undefined): void {
    this.#hovered = uid;
    this.#look();
  }

  #look(): void {
    const at = this.#hovered ?? this.#selected;
    this.#near = new Set(at !== undefined && this.#graph.hasNode(at) ? [at, ...this.#graph.neighbors(at)] : []);
    this.#sigma.refresh({ skipIndexation: true });
  }

  #reduceNode(node: string, data: Record<string, unknown>): Record<string, unknown> {
    const chosen = node === this.#selected;
    if (this.#near.size === 0 || this.#near.has(node)) {
      return { ...data, forceLabel: chosen || node === this.#hovered, highlighted: chosen, zIndex: 1 };
    }
    return { ...data, color: this.#colours.faint, label: '', zIndex: 0 };
  }

  #reduceEdge(edge: string, data: Record<string, unknown>): Record<string, unknown> {
    const at = this.#hovered ?? this.#selected;
    if (at === undefined || !this.#graph.hasNode(at)) return { ...data, color: this.#colours.edge };
    if (!this.#graph.hasExtremity(edge, at)) return { ...data, hidden: true };
    return { ...data, color: this.#colours.strong, zIndex: 1 };
  }

  #drawHover(
    context: CanvasRenderingContext2D,
    { x, y, size, label, color }: { x: number; y: number; size: number; label: string | null; color: string },
    labelSize: number,
  ): void {
    const { panel, text, edge } = this.#colours;
    context.font = `600 ${labelSize}px system-ui, sans-serif`;
    const width = label ? context.measureText(label).width + 12 : 0;
    context.fillStyle = panel;
    context.strokeStyle = edge;
    context.beginPath();
    if (label)
      context.roundRect(x - size - 4, y - Math.max(size + 3, 10), width + size * 2 + 8, Math.max(size * 2 + 6, 20), 8);
    else context.arc(x, y, size + 3, 0, Math.PI * 2);
    context.fill();
    context.stroke();
    context.fillStyle = color;
    context.beginPath();
    context.arc(x, y, size, 0, Math.PI * 2);
    context.fill();
    if (!label) return;
    context.fillStyle = text;
    context.fillText(label, x + size + 5, y + labelSize / 3);
  }
}

function sizeOf(degree: number, order: number): number {
  const base = order > 2_000 ? 2 : order > 300 ? 3 : 4;
  return base + Math.min(Math.sqrt(degree) * (base / 4), base * 2);
}

/** Without a graphics card edges are left out while the picture moves. */
function drawnBySoftware(): boolean {
  const context = document.createElement('canvas').getContext('webgl2');
  const names = context?.getExtension('WEBGL_debug_renderer_info');
  const renderer = names && context?.getParameter(names.UNMASKED_RENDERER_WEBGL);
  context?.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|software/i.test(String(renderer));
}

function calm(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}
