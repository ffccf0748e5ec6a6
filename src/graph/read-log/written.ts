import type { CommitRecord } from '../../commit/index.js';
import { decodeValue, type IndexKind, tokensOf } from '../../values/index.js';
import { type ChangesPart, OP, payloadOf } from '../delta.js';
import { graphPart } from '../part.js';
import { tokenText, type Watch, type WrittenValue } from './watch.js';

/** Changes that are looked at one by one. Watches are many and wait for each of them: of a larger commit only the predicates count. */
const APART = 64;
/** Bytes of a value whose tokens are made for this. */
const TOKENED_BYTES = 1_024;

/** What one commit did to the graph, for those who want to know whether it concerns them. */
export class Written {
  /** undefined where it did more than write values */
  readonly #part: ChangesPart | undefined;
  #changes: readonly Change[] | undefined;

  private constructor(part: ChangesPart | undefined) {
    this.#part = part;
  }

  /** undefined for a commit that changed nothing of the graph. */
  static by(record: Pick<CommitRecord, 'parts'>): Written | undefined {
    const part = graphPart(record);
    if (!part || part.kind === 'lease' || part.kind === 'document') return undefined;
    return new Written(part.kind === 'changes' ? part : undefined);
  }

  /** Whether it may have changed something of these predicates. */
  touches(names: ReadonlySet<string>): boolean {
    return !this.#part || this.#part.names.some((name) => names.has(name));
  }

  /**
   * The same for a query over these predicates that read no more than the watch saw. A predicate that came into being with the
   * commit was not there to be read.
   */
  concerns(names: ReadonlySet<string>, watch: Watch): boolean {
    if (!this.touches(names)) return false;
    const part = this.#part;
    if (!part || part.ops.length > APART || part.create.some(({ name }) => names.has(name))) return true;
    this.#changes ??= Array.from(part.ops, (_, i) => new Change(part, i));
    return this.#changes.some((change) => watch.minds(change.predicate, change));
  }
}

class Change implements WrittenValue {
  readonly predicate: string;
  readonly uid: number;
  readonly object: number;
  readonly #part: ChangesPart;
  readonly #at: number;
  readonly #tokens = new Map<IndexKind, readonly string[] | undefined>();

  constructor(part: ChangesPart, at: number) {
    this.#part = part;
    this.#at = at;
    this.predicate = part.names[part.predicates[at]];
    this.uid = part.uids[at];
    this.object = part.objects[at];
  }

  /** Made once for all who ask. */
  tokens(kind: IndexKind): readonly string[] | undefined {
    if (!this.#tokens.has(kind)) this.#tokens.set(kind, this.#made(kind));
    return this.#tokens.get(kind);
  }

  #made(kind: IndexKind): readonly string[] | undefined {
    const part = this.#part;
    if (part.ops[this.#at] !== OP.setValue) return [];
    const { value } = payloadOf(part, this.#at);
    if (value.length > TOKENED_BYTES) return undefined;
    return tokensOf(kind, decodeValue(value), part.langs[part.langOf[this.#at]]).map(tokenText);
  }
}
