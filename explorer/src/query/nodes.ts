/** A node of the picture: what is known of it so far. */
export interface PictureNode {
  readonly uid: string;
  types: string[];
  label: string;
  readonly values: Record<string, unknown>;
}

interface PictureEdge {
  readonly from: string;
  readonly to: string;
  readonly predicate: string;
}

export interface PictureData {
  readonly nodes: Map<string, PictureNode>;
  readonly edges: Map<string, PictureEdge>;
  /** nodes left out beyond the limit */
  dropped: number;
}

const MOST_NODES = 20_000;

export function emptyPicture(): PictureData {
  return { nodes: new Map(), edges: new Map(), dropped: 0 };
}

type Entry = Readonly<Record<string, unknown>>;

/** Adds every object with a `uid` and every edge between two of them; knows `~predicate` as the way back. */
export function addAnswer(picture: PictureData, data: Entry, typePredicate: string): void {
  for (const [name, block] of Object.entries(data)) {
    if (name === 'code' || name === 'message' || name === 'uids') continue;
    for (const entry of entriesOf(block)) visit(picture, entry, typePredicate);
  }
}

function entriesOf(value: unknown): Entry[] {
  const list = Array.isArray(value) ? value : [value];
  return list.filter((one): one is Entry => typeof one === 'object' && one !== null && !Array.isArray(one));
}

function visit(picture: PictureData, entry: Entry, typePredicate: string): string | undefined {
  const uid = typeof entry['uid'] === 'string' ? entry['uid'] : undefined;
  const node = uid === undefined ? undefined : nodeOf(picture, uid);
  for (const [key, value] of Object.entries(entry)) {
    if (key === 'uid') continue;
    const below = entriesOf(value).filter((one) => !('type' in one && 'coordinates' in one));
    if (below.length === 0) {
      if (node) note(node, key, value, typePredicate);
      continue;
    }
    for (const child of below) {
      const to = visit(picture, child, typePredicate);
      if (node && to !== undefined) addEdge(picture, node.uid, to, key);
    }
  }
  return node?.uid;
}

function nodeOf(picture: PictureData, uid: string): PictureNode | undefined {
  const known = picture.nodes.get(uid);
  if (known) return known;
  if (picture.nodes.size >= MOST_NODES) {
    picture.dropped++;
    return undefined;
  }
  const made: PictureNode = { uid, types: [], label: '', values: {} };
  picture.nodes.set(uid, made);
  return made;
}

function note(node: PictureNode, key: string, value: unknown, typePredicate: string): void {
  if (key === typePredicate) node.types = [value].flat().map(String);
  else node.values[key] = value;
}

function addEdge(picture: PictureData, from: string, to: string, key: string): void {
  const back = key.startsWith('~');
  const edge = back ? { from: to, to: from, predicate: key.slice(1) } : { from, to, predicate: key };
  picture.edges.set(`${edge.from} ${edge.predicate} ${edge.to}`, edge);
}

/** Sets labels: the best of `preferred`, then any short text, then the uid. */
export function nameNodes(picture: PictureData, preferred: readonly string[]): void {
  const rank = ['name', 'title', 'label', 'username', 'key', 'id'];
  for (const node of picture.nodes.values()) {
    const keys = Object.keys(node.values);
    const found =
      preferred.find((key) => typeof node.values[key] === 'string') ??
      keys.find((key) => rank.includes(key.slice(key.lastIndexOf('.') + 1)) && typeof node.values[key] === 'string') ??
      keys.find((key) => typeof node.values[key] === 'string' && (node.values[key] as string).length < 40);
    node.label = found ? String(node.values[found]).slice(0, 60) : node.uid;
  }
}
