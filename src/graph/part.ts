import type { CommitRecord } from '../commit/index.js';
import type { AlterPart, StepPart } from './alter/part.js';
import type { BulkPart } from './bulk/part.js';
import type { ChangesPart } from './delta.js';

/** The name under which the graph's applier is registered with the committer. */
export const GRAPH = 'graph';

/** Asks for `count` consecutive uids above everything issued or used; answers a LeaseResult. */
export interface LeasePart {
  readonly kind: 'lease';
  readonly count: number;
}

interface DocumentPart {
  readonly kind: 'document';
  readonly name: string;
  readonly text: string;
}

/** What the graph's applier takes: plain data, as it lies in commit records. */
export type GraphPart = ChangesPart | LeasePart | DocumentPart | AlterPart | StepPart | BulkPart;

/** The graph's part of a commit record. */
export function graphPart({ parts }: Pick<CommitRecord, 'parts'>): GraphPart | undefined {
  return parts[GRAPH] as GraphPart | undefined;
}

export interface LeaseResult {
  /** first of the uids */
  readonly first: number;
}
