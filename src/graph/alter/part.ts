import type { TypeName } from '../../values/index.js';
import type { NamedDocument, NodeType } from '../contract.js';

/** A predicate as the schema text declares it. */
export interface Declaration {
  readonly name: string;
  readonly type: TypeName;
  readonly list: boolean;
  readonly indexes: readonly {
    readonly kind: import('../../values/index.js').IndexKind;
    readonly options: Readonly<Record<string, string>>;
  }[];
  readonly reverse: boolean;
  readonly count: boolean;
  readonly lang: boolean;
  readonly upsert: boolean;
  readonly unique: boolean;
  readonly noconflict: boolean;
}

/** Changes the schema; what has to be built or swept afterwards is noted as jobs in the same commit. */
export interface AlterPart {
  readonly kind: 'alter';
  readonly declare: readonly Declaration[];
  readonly types: readonly NodeType[];
  readonly dropTypes: readonly string[];
  readonly dropPredicates: readonly string[];
  /** data: every predicate is emptied; all: predicates, types and documents go */
  readonly drop: 'none' | 'data' | 'all';
  readonly document?: NamedDocument;
}

/** One step of a job: some uids of an index build, some keys of a sweep. */
export interface StepPart {
  readonly kind: 'step';
  readonly job: number;
  /** of values, edges and uids, after which a step of a build ends */
  readonly bytes: number;
}
