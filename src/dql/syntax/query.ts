import type { Position } from '../../base/index.js';

/**
 * The syntax of the graph language's queries. Nodes are frozen plain objects. Fragments are expanded, GraphQL-style
 * variables ($x) are replaced by their values, and names are stored names (see base/names.ts) when the parser is done;
 * `shown` keeps what the client wrote where it becomes a key of the answer.
 */
export interface QueryDocument {
  readonly blocks: readonly Block[];
  readonly schema?: SchemaQuery;
}

/** `schema(pred: [a, b]) { type index }` or `schema(type: T) {}`; empty lists mean all. */
export interface SchemaQuery {
  readonly predicates?: readonly string[];
  readonly types?: readonly string[];
  readonly fields: readonly string[];
  readonly position: Position;
}

/** One root block: `name(func: ..., first: ...) @filter(...) { ... }`. */
export interface Block {
  readonly kind: 'block';
  /** key of the answer; "var" blocks give none; undefined for `shortest` and var */
  readonly name: string;
  /** `var(func: ...)`: nothing of it is shown */
  readonly isVar: boolean;
  /** uid variable it defines: `x as var(func: ...)` */
  readonly variable?: string;
  /** absent for blocks like `me() { ... }` that only show aggregates */
  readonly root?: RootFunction;
  readonly filter?: Filter;
  readonly order: readonly OrderKey[];
  readonly page: Page;
  readonly directives: Directives;
  readonly recurse?: { readonly depth?: number; readonly loop: boolean };
  readonly shortest?: ShortestArgs;
  readonly groupBy?: GroupBy;
  readonly children: readonly Selection[];
  readonly position: Position;
}

/** `shortest(from:, to:, numpaths:, depth:, minweight:, maxweight:)`. from and to are a uid or a uid variable. */
export interface ShortestArgs {
  readonly from: UidArgument;
  readonly to: UidArgument;
  readonly numPaths: number;
  readonly depth?: number;
  readonly minWeight?: number;
  readonly maxWeight?: number;
  readonly maxFrontierSize?: number;
}

export type UidArgument =
  | { readonly kind: 'uid'; readonly uid: number }
  | { readonly kind: 'variable'; readonly name: string };

type RootFunction = FunctionCall;

/** `first` may be negative (the last n). `after` is a uid or, resolved at run time, a uid variable. */
export interface Page {
  readonly first?: number;
  readonly offset?: number;
  readonly after?: UidArgument;
  /** `random: n` */
  readonly random?: number;
}

export interface OrderKey {
  readonly by:
    | { readonly kind: 'predicate'; readonly name: string; readonly langs: readonly string[] }
    /** `keepAll`: nodes without a value stay, last, and other keys may stand beside it (GraphQL's nested orders) */
    | { readonly kind: 'variable'; readonly name: string; readonly keepAll?: boolean }
    | { readonly kind: 'facet'; readonly key: string };
  readonly descending: boolean;
  readonly position: Position;
}

export interface Directives {
  /** undefined: no @cascade; empty: all fields; else those named */
  readonly cascade?: readonly string[];
  readonly normalize: boolean;
  readonly ignoreReflex: boolean;
  /** read beside what was asked for: @cascade neither asks for it nor looks below. No text says so */
  readonly beside?: true;
  /** what @cascade asks for of nodes of a type, in place of `cascade`: the selections it must have. No text says so */
  readonly asked?: ReadonlyMap<string, readonly Selection[]>;
}

/** @groupby(a, alias: b@en, ~c). */
export interface GroupBy {
  readonly keys: readonly {
    readonly name: string;
    readonly alias?: string;
    readonly langs: readonly string[];
    readonly reverse: boolean;
    readonly position: Position;
  }[];
}

export type Selection =
  | PredicateSelection
  | UidSelection
  | CountUidSelection
  | CountPredicateSelection
  | ValueSelection
  | AggregateSelection
  | MathSelection
  | ExpandSelection
  | CheckPasswordSelection
  | SimilarDistanceSelection;

interface SelectionBase {
  /** key of the answer when the client gave one */
  readonly alias?: string;
  /** variable it defines: `x as friend` */
  readonly variable?: string;
  readonly position: Position;
}

/** `friend @filter(..) (first: 2) { .. }`, `~friend { .. }`, `name@en:fr`. */
export interface PredicateSelection extends SelectionBase {
  readonly kind: 'predicate';
  readonly name: string;
  /** the default key of the answer, as the client wrote it: `~friend`, `name@en:fr`, `dgraph.type` */
  readonly shown: string;
  readonly reverse: boolean;
  /** language preference: "." any, "*" all; empty: untagged only */
  readonly langs: readonly string[];
  readonly filter?: Filter;
  readonly facets?: FacetRequest;
  readonly facetFilter?: FacetFilter;
  readonly order: readonly OrderKey[];
  readonly page: Page;
  readonly directives: Directives;
  readonly groupBy?: GroupBy;
  readonly children: readonly Selection[];
}

/** `uid` */
interface UidSelection extends SelectionBase {
  readonly kind: 'uid';
}

/** `count(uid)` */
interface CountUidSelection extends SelectionBase {
  readonly kind: 'countUid';
}

/** `count(friend @filter(..))`, `count(~friend)`, `count(name@en)`, `count(friend (first: 2))` */
export interface CountPredicateSelection extends SelectionBase {
  readonly kind: 'countPredicate';
  readonly name: string;
  /** what was counted, as the client wrote it: the default key is `count(<shown>)` */
  readonly shown: string;
  readonly reverse: boolean;
  readonly langs: readonly string[];
  readonly filter?: Filter;
  readonly facetFilter?: FacetFilter;
  readonly page?: Page;
}

/** `val(x)` */
export interface ValueSelection extends SelectionBase {
  readonly kind: 'value';
  readonly of: string;
}

/** `min(val(x))`; inside @groupby also `min(age)`. */
export interface AggregateSelection extends SelectionBase {
  readonly kind: 'aggregate';
  readonly op: 'min' | 'max' | 'sum' | 'avg';
  readonly of:
    | { readonly kind: 'variable'; readonly name: string }
    | { readonly kind: 'predicate'; readonly name: string; readonly langs: readonly string[] };
}

export interface MathSelection extends SelectionBase {
  readonly kind: 'math';
  readonly expression: MathExpression;
}

/** `expand(_all_)`, `expand(Person, Animal)`, `expand(val(x))`; filter applies to each edge. */
export interface ExpandSelection extends SelectionBase {
  readonly kind: 'expand';
  readonly of:
    | { readonly kind: 'all' }
    | { readonly kind: 'types'; readonly names: readonly string[] }
    | { readonly kind: 'variable'; readonly name: string };
  readonly filter?: Filter;
  readonly facets?: FacetRequest;
  readonly order: readonly OrderKey[];
  readonly page: Page;
  readonly directives: Directives;
  readonly children: readonly Selection[];
}

/** `checkpwd(password, "secret")` as a selection */
export interface CheckPasswordSelection extends SelectionBase {
  readonly kind: 'checkPassword';
  readonly name: string;
  readonly shown: string;
  readonly password: string;
}

/** reserved for `similar_to` distances shown as a field */
interface SimilarDistanceSelection extends SelectionBase {
  readonly kind: 'similarDistance';
}

/** `@facets`, `@facets(since, a as close, alias: close, orderasc: since)` */
export interface FacetRequest {
  readonly all: boolean;
  /** expand() brings facets that nobody wrote: an answer in another form may leave them out */
  readonly implied?: boolean;
  readonly keys: readonly { readonly key: string; readonly alias?: string; readonly variable?: string }[];
  readonly order: readonly { readonly key: string; readonly descending: boolean }[];
}

export type FacetFilter =
  | { readonly kind: 'and' | 'or'; readonly children: readonly FacetFilter[] }
  | { readonly kind: 'not'; readonly child: FacetFilter }
  | {
      readonly kind: 'test';
      readonly fn: 'eq' | 'le' | 'lt' | 'ge' | 'gt' | 'allofterms' | 'anyofterms';
      readonly key: string;
      readonly args: readonly string[];
      readonly position: Position;
    };

export type Filter =
  | { readonly kind: 'and' | 'or'; readonly children: readonly Filter[] }
  | { readonly kind: 'not'; readonly child: Filter }
  | { readonly kind: 'call'; readonly call: FunctionCall };

/** Every function name of the language. */
export type FunctionName =
  | 'uid'
  | 'has'
  | 'eq'
  | 'le'
  | 'lt'
  | 'ge'
  | 'gt'
  | 'between'
  | 'type'
  | 'allofterms'
  | 'anyofterms'
  | 'alloftext'
  | 'anyoftext'
  | 'regexp'
  | 'match'
  | 'ngram'
  | 'uid_in'
  | 'near'
  | 'within'
  | 'contains'
  | 'intersects'
  | 'similar_to'
  | 'checkpwd';

export type Argument =
  /** text, number or literal as written, without quotes; `quoted` tells which */
  | { readonly kind: 'literal'; readonly text: string; readonly quoted: boolean; readonly position: Position }
  | { readonly kind: 'uid'; readonly uid: number; readonly position: Position }
  /** `val(x)` */
  | { readonly kind: 'value'; readonly variable: string; readonly position: Position }
  /** a uid variable: `uid(x)` */
  | { readonly kind: 'uidVariable'; readonly name: string; readonly position: Position }
  /** `/pattern/flags` */
  | { readonly kind: 'regexp'; readonly pattern: string; readonly flags: string; readonly position: Position }
  /** numbers in brackets, nested as in geo: `[1.0, 2.0]`, `[[[..]]]`; JSON text */
  | { readonly kind: 'coordinates'; readonly text: string; readonly position: Position };

/**
 * `eq(name@en, "a", "b")`, `uid(0x1, x)`, `has(~friend)`, `ge(count(friend), 2)`, `eq(val(x), 5)`, `uid_in(friend, 0x1)`.
 * For `uid` the arguments hold uids and uid variables; `eq(name, ["a","b"])` has one argument a member.
 */
export interface FunctionCall {
  readonly name: FunctionName;
  /** what it is asked of; absent for `uid` and `type` */
  readonly subject?:
    | {
        readonly kind: 'predicate';
        readonly name: string;
        readonly shown: string;
        readonly langs: readonly string[];
        readonly reverse: boolean;
      }
    | { readonly kind: 'count'; readonly name: string; readonly reverse: boolean }
    | { readonly kind: 'value'; readonly variable: string }
    /** `eq(len(x), 0)`: in @if and in @filter */
    | { readonly kind: 'length'; readonly variable: string };
  readonly args: readonly Argument[];
  /** some arguments stood in brackets; `eq(name, [])` has none and matches nothing */
  readonly listed?: true;
  /** `similar_to(v, 3, $vector, ef: 64, distance_threshold: 0.5)` */
  readonly options?: { readonly ef?: number; readonly distanceThreshold?: number };
  readonly position: Position;
}

/** `math(a + b * 2)`; names are value variables. */
export type MathExpression =
  | {
      readonly kind: 'constant';
      readonly text: string;
      /** as written, or as the query declares its `$variable` */
      readonly type?: 'int' | 'float' | 'bool' | 'string' | 'float32vector';
      readonly position: Position;
    }
  | { readonly kind: 'variable'; readonly name: string; readonly position: Position }
  | {
      readonly kind: 'apply';
      readonly op: MathOperator;
      readonly args: readonly MathExpression[];
      readonly position: Position;
    };

export type MathOperator =
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | 'neg'
  | '<'
  | '>'
  | '<='
  | '>='
  | '=='
  | '!='
  | '!'
  | '&&'
  | '||'
  | 'min'
  | 'max'
  | 'sqrt'
  | 'ln'
  | 'exp'
  | 'since'
  | 'pow'
  | 'logbase'
  | 'floor'
  | 'ceil'
  | 'cond'
  | 'dot'
  | 'sigmoid';
