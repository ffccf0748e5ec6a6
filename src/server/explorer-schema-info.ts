// Plain data for the explorer's schema pane: GraphQL types beside the predicates they map to, and where operations
// come from. It imports nothing: the page, which knows no Node, takes its types from it.

export interface ExplorerField {
  readonly name: string;
  readonly type: string;
  readonly role: 'id' | 'scalar' | 'edge' | 'custom' | 'remote' | 'external';
  readonly predicate?: string;
  readonly reverse?: boolean;
  readonly search: readonly string[];
  readonly unique: boolean;
  readonly inverse?: string;
  readonly description?: string;
}

export interface ExplorerType {
  readonly name: string;
  readonly kind: 'object' | 'interface' | 'enum' | 'union' | 'input';
  /** value of `service.type` of its nodes; absent where nothing is stored */
  readonly storedName?: string;
  readonly description?: string;
  readonly remote: boolean;
  readonly implements: readonly string[];
  readonly fields: readonly ExplorerField[];
  /** of an enum its values, of a union its types */
  readonly members: readonly string[];
}

export interface ExplorerOperation {
  readonly name: string;
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly from: 'type' | 'custom' | 'function' | 'service';
  /** the type's name, or what custom logic calls */
  readonly source?: string;
  readonly result: string;
  readonly args: readonly { readonly name: string; readonly type: string }[];
  readonly description?: string;
}

export interface ExplorerSchema {
  /** the type definitions; null before the first upload */
  readonly text: string | null;
  readonly types: readonly ExplorerType[];
  readonly operations: readonly ExplorerOperation[];
  /** why operations are not listed */
  readonly refused?: string;
}
