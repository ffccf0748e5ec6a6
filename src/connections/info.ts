// What is told of connections and models. It imports nothing: the explorer's page, which knows no Node, takes its types
// from it.

/** A connection as it may be shown: names of variables, never their values. */
export interface ConnectionReport {
  readonly name: string;
  readonly kind: 'http' | 'relational' | 'graph';
  readonly optional: boolean;
  /** host:port; absent while a variable that the address needs is missing */
  readonly address?: string;
  readonly variables: readonly { readonly name: string; readonly set: boolean }[];
}

export interface ModelReport {
  readonly name: string;
  readonly sourceModel: string;
  readonly connection: string;
  readonly path: string;
  readonly inputPrice?: number;
  readonly outputPrice?: number;
}

export interface Reachable {
  readonly reachable: boolean;
  readonly ms: number;
  /** why not */
  readonly reason?: string;
}

/** One finished call of a connection or a model: what /metrics, traces and the explorer show. Never a secret, never a body of an http call. */
export interface CallRecord {
  readonly connection: string;
  readonly kind: 'http' | 'relational' | 'graph' | 'model';
  /** what was asked: method and path, a query's first words, a model's name */
  readonly what: string;
  readonly startedAt: number;
  readonly ms: number;
  readonly ok: boolean;
  readonly error?: string;
  readonly model?: ModelUse;
}

export interface ModelUse {
  readonly name: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** in the currency of the configured prices; undefined without prices */
  readonly cost?: number;
  /** what was asked and answered, cut; the call log keeps it only where it is shown */
  readonly messages?: readonly SpokenMessage[];
}

export interface SpokenMessage {
  readonly role: string;
  readonly text: string;
}

/** What a connection or a model did since the start. */
export interface CallTotals {
  readonly calls: number;
  readonly failed: number;
  readonly ms: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** in the currency of the configured prices; undefined without prices */
  readonly cost?: number;
}
