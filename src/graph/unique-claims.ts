import { latin1 } from '../base/index.js';
import type { StoredValue } from '../values/index.js';
import type { PredicateRecord } from './schema.js';

/** A value that a request leaves on a node under a @unique predicate. */
export interface Claim {
  readonly record: PredicateRecord;
  readonly uid: number;
  readonly lang: string;
  readonly stored: StoredValue;
}

/** What a request does to the values of one node in one language. */
interface Values {
  /** whatever stood before is gone */
  readonly cleared: boolean;
  /** by bytes: those that come, and undefined for those that go */
  readonly byBytes: Map<string, StoredValue | undefined>;
}

interface Node {
  readonly record: PredicateRecord;
  readonly uid: number;
  readonly cleared: boolean;
  readonly langs: Map<string, Values>;
}

/** What a request comes to under @unique predicates, whatever it did on the way there; told in the order of its changes. */
export class UniqueClaims {
  readonly #nodes = new Map<string, Node>();

  get size(): number {
    return this.#nodes.size;
  }

  set(record: PredicateRecord, uid: number, lang: string, stored: StoredValue): void {
    const { langs } = this.#node(record, uid);
    const before = record.list ? langs.get(lang) : undefined;
    const byBytes = before?.byBytes ?? new Map<string, StoredValue | undefined>();
    byBytes.set(latin1(stored), stored);
    langs.set(lang, { cleared: before?.cleared ?? !record.list, byBytes });
  }

  /** One value goes, where the node has it. */
  remove(record: PredicateRecord, uid: number, lang: string, stored: StoredValue): void {
    const { langs } = this.#node(record, uid);
    const { cleared, byBytes } = langs.get(lang) ?? { cleared: false, byBytes: new Map() };
    langs.set(lang, { cleared, byBytes: byBytes.set(latin1(stored), undefined) });
  }

  /** All values go, or those of one language. */
  clear(record: PredicateRecord, uid: number, lang?: string): void {
    if (lang === undefined) this.#put({ record, uid, cleared: true, langs: new Map() });
    else this.#node(record, uid).langs.set(lang, { cleared: true, byBytes: new Map() });
  }

  /** Whether the node, which has the value, does not have it any more after the request. */
  givesUp({ record, lang, stored }: Claim, holder: number): boolean {
    const node = this.#nodes.get(keyOf(record, holder));
    const values = node?.langs.get(lang);
    const bytes = latin1(stored);
    if (values?.byBytes.has(bytes)) return values.byBytes.get(bytes) === undefined;
    return values?.cleared ?? node?.cleared ?? false;
  }

  *claims(): Iterable<Claim> {
    for (const { record, uid, langs } of this.#nodes.values()) {
      for (const [lang, { byBytes }] of langs) {
        for (const stored of byBytes.values()) if (stored) yield { record, uid, lang, stored };
      }
    }
  }

  #node(record: PredicateRecord, uid: number): Node {
    return this.#nodes.get(keyOf(record, uid)) ?? this.#put({ record, uid, cleared: false, langs: new Map() });
  }

  #put(node: Node): Node {
    this.#nodes.set(keyOf(node.record, node.uid), node);
    return node;
  }
}

function keyOf({ name }: PredicateRecord, uid: number): string {
  return `${name}\n${uid}`;
}
