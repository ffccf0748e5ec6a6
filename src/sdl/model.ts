import type { DocumentNode, InputValueDefinitionNode, OperationDefinitionNode, TypeNode } from 'graphql';
import type { Position, Secret } from '../base/index.js';
import type { Place } from '../values/index.js';
import type { BodyTemplate, UrlTemplate } from './template.js';

/** Scalars a definition may use. Point, Polygon and MultiPolygon are written as objects but stored as one geo value. */
export type ScalarName =
  | 'ID'
  | 'Int'
  | 'Int64'
  | 'Float'
  | 'String'
  | 'Boolean'
  | 'DateTime'
  | 'Point'
  | 'Polygon'
  | 'MultiPolygon';

export type GeoName = Place['type'];

/** What the base of a type reference names. `input` stands only in arguments of custom operations. */
export type TypeKind = 'scalar' | 'enum' | 'object' | 'interface' | 'union' | 'input';

/** A type as a field has it: `[name!]!`. Deeper lists than one are refused for stored fields. */
export interface TypeRef {
  readonly name: string;
  readonly kind: TypeKind;
  readonly list: boolean;
  readonly nonNull: boolean;
  /** as written */
  readonly text: string;
  readonly node: TypeNode;
}

/** Kinds of search as written in `@search(by: [...])`; a bare `@search` is already its default here. */
export type SearchKind =
  | 'int'
  | 'int64'
  | 'float'
  | 'bool'
  | 'hash'
  | 'exact'
  | 'term'
  | 'fulltext'
  | 'trigram'
  | 'regexp'
  | 'ngram'
  | 'year'
  | 'month'
  | 'day'
  | 'hour'
  | 'point'
  | 'polygon'
  | 'multiPolygon'
  | 'hnsw';

/** One entry of `@search`; options are those of `"hnsw(metric: euclidean, exponent: 4)"`, empty elsewhere. */
export interface Search {
  readonly kind: SearchKind;
  readonly options: Readonly<Record<string, string>>;
}

/** How a field lies in the graph. */
export interface Storage {
  /** stored predicate name, without `~`, language tags and angle brackets */
  readonly predicate: string;
  /** read and written through the reverse of `predicate` (`@dgraph(pred: "~p")`) */
  readonly reverse: boolean;
  /** language tags of `pred@hi:en`; absent where the predicate is untagged; "." is any language */
  readonly languages?: readonly string[];
}

/** A value that is set where the client gives none. `now` is the request's time. */
export type DefaultValue = { readonly kind: 'now' } | { readonly kind: 'literal'; readonly text: string };

export interface Header {
  /** header name sent to the remote */
  readonly remote: string;
  /** forwarded: header name of the incoming request; secret or introspection: name of the declared secret */
  readonly local: string;
}

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The `graphql` text of a @custom directive: one operation with one field, parsed. */
export interface RemoteOperation {
  readonly position: Position;
  readonly operation: OperationDefinitionNode;
  readonly kind: 'query' | 'mutation';
  /** the remote field that is called */
  readonly field: string;
  /** variable definitions, in order */
  readonly variables: readonly {
    readonly name: string;
    readonly type: TypeNode;
    readonly nonNull: boolean;
  }[];
  /** arguments of the remote field: the variable each one takes */
  readonly arguments: readonly { readonly name: string; readonly variable?: string }[];
}

export interface HttpCall {
  readonly position: Position;
  readonly url: UrlTemplate;
  readonly urlPosition: Position;
  readonly method: HttpMethod;
  readonly body?: BodyTemplate;
  readonly bodyPosition?: Position;
  readonly graphql?: RemoteOperation;
  readonly mode: 'SINGLE' | 'BATCH';
  /** Header names compare case-insensitively. */
  readonly forwardHeaders: readonly Header[];
  readonly secretHeaders: readonly Header[];
  readonly introspectionHeaders: readonly Header[];
  readonly skipIntrospection: boolean;
  /** arguments (root fields) or sibling fields (type fields) that url, body and graphql text use; each once */
  readonly needs: readonly string[];
}

export type Custom =
  | { readonly kind: 'http'; readonly http: HttpCall }
  | { readonly kind: 'dql'; readonly dql: string; readonly position: Position }
  /** the peer's @lambda, accepted under `--compat dgraph`: always answers null */
  | { readonly kind: 'lambda' };

/** A field of an object type or interface. */
export interface Field {
  readonly name: string;
  readonly description?: string;
  readonly position: Position;
  /** the type whose definition introduced it: an interface for an inherited field */
  readonly owner: string;
  readonly type: TypeRef;
  readonly arguments: readonly InputValueDefinitionNode[];
  /**
   * What the field is: `id` is the uid; `scalar` (enums and geo too) and `edge` are stored; `custom` is resolved by
   * @custom; `remote` is a field of a remote type; `external` is owned by another service of a federation and not stored.
   * A `scalar` of type ID is the key of another service's entity, kept as a value.
   */
  readonly role: 'id' | 'scalar' | 'edge' | 'custom' | 'remote' | 'external';
  /** present for `scalar` and `edge` */
  readonly storage?: Storage;
  /** @id: a value that names the node; `interface` is true where it is unique over all implementing types */
  readonly xid?: { readonly interface: boolean };
  /** the field at the other end, when both ends are kept in step */
  readonly inverse?: { readonly type: string; readonly field: string };
  /** @restrict: neither a deletion at the other end nor a mutation that takes the edge over may leave it empty */
  readonly restrict: boolean;
  /** empty where it cannot be searched */
  readonly search: readonly Search[];
  readonly default?: { readonly add?: DefaultValue; readonly update?: DefaultValue };
  readonly embedding: boolean;
  readonly custom?: Custom;
  /** key of the remote's reply, where @remoteResponse names another than the field's */
  readonly responseName?: string;
  readonly deprecated?: string;
  /** @requires: fields of another service that its custom logic is told */
  readonly requires: readonly string[];
}

export type RbacOperator = 'eq' | 'in' | 'regexp';

/** A rule of @auth with its text parsed. `graph` rules are checked against the generated schema by the api room. */
export type AuthRule =
  | { readonly kind: 'and' | 'or'; readonly rules: readonly AuthRule[] }
  | { readonly kind: 'not'; readonly rule: AuthRule }
  | {
      readonly kind: 'rbac';
      /** claim name, without `$` */
      readonly variable: string;
      readonly operator: RbacOperator;
      readonly value: unknown;
    }
  | {
      readonly kind: 'graph';
      readonly document: DocumentNode;
      readonly position: Position;
      /** names of the claims that it reads */
      readonly variables: readonly string[];
    };

export type AuthAction = 'query' | 'add' | 'update' | 'delete' | 'password';

/** Rules that stand on the definition itself. Those of its interfaces apply as well (`and`). */
export type AuthRules = { readonly [A in AuthAction]?: AuthRule };

/** What is generated for a type, after @generate, @remote and the type's kind. */
export interface Generate {
  readonly get: boolean;
  readonly query: boolean;
  readonly password: boolean;
  readonly aggregate: boolean;
  readonly add: boolean;
  readonly update: boolean;
  readonly delete: boolean;
  readonly subscription: boolean;
}

/** @secret: a password that is stored hashed and only ever checked. */
export interface Password {
  readonly field: string;
  readonly predicate: string;
  /** the type whose definition has the directive */
}

/** An object type or an interface, its inherited fields included. */
export interface ObjectType {
  readonly kind: 'object' | 'interface';
  readonly name: string;
  readonly description?: string;
  /** value of `service.type` of its nodes */
  readonly storedName: string;
  /** interfaces it implements, as written */
  readonly interfaces: readonly string[];
  /** for an interface: object types that implement it, in order of definition; for an object type: itself */
  readonly members: readonly string[];
  /** interface fields first, then its own, each in order of definition */
  readonly fields: readonly Field[];
  field(name: string): Field | undefined;
  /** the field of type ID that is the node's uid */
  readonly id?: Field;
  /** @id fields, in order */
  readonly xids: readonly Field[];
  readonly password?: Password;
  readonly auth?: AuthRules;
  /** not stored: only custom logic returns it */
  readonly remote: boolean;
  readonly generate: Generate;
  readonly federation: {
    /** field names of @key */
    readonly key?: readonly string[];
    /** `extend type` or @extends: another service owns it */
    readonly extended: boolean;
  };
}

export interface UnionType {
  readonly kind: 'union';
  readonly name: string;
  readonly description?: string;
  readonly members: readonly string[];
  readonly remote: boolean;
}

export interface EnumType {
  readonly kind: 'enum';
  readonly name: string;
  readonly description?: string;
  readonly values: readonly { readonly name: string; readonly description?: string; readonly deprecated?: string }[];
}

/** An input of the user's own, for arguments of custom operations. */
export interface InputType {
  readonly kind: 'input';
  readonly name: string;
  readonly description?: string;
  readonly fields: readonly InputValueDefinitionNode[];
}

export type NamedType = ObjectType | UnionType | EnumType | InputType;

/** A field of Query or Mutation (always @custom); `withSubscription` only for dql queries. */
export interface RootField extends Field {
  readonly root: 'Query' | 'Mutation';
  readonly custom: Custom;
  readonly withSubscription: boolean;
}

/** `# Service.Authorization {...}`: how a request's JWT is found and verified. Field names as in the comment's JSON. */
export interface Authorization {
  /** header that carries the token; lower-case comparison */
  readonly header: string;
  /** claim under which the app's own claims lie */
  readonly namespace: string;
  readonly algorithm: string;
  /** key for one fixed algorithm, or addresses of key sets */
  readonly verificationKey?: Secret;
  readonly jwkUrls: readonly string[];
  /** audiences of which one must be the token's; empty: any */
  readonly audience: readonly string[];
  /** a token that names no audience is refused where some are wanted */
  readonly demandsAudience: boolean;
  /** a request without a token is refused */
  readonly closedByDefault: boolean;
}

/** Everything a set of type definitions says, checked and frozen. */
export interface Model {
  /** the text as it was given */
  readonly text: string;
  /** every type of the definitions, in order; `extend type` ones last */
  readonly types: ReadonlyMap<string, NamedType>;
  /** object types and interfaces of `types`, in the same order */
  readonly objects: readonly ObjectType[];
  readonly unions: readonly UnionType[];
  readonly enums: readonly EnumType[];
  readonly inputs: readonly InputType[];
  /** the object type or interface; undefined for others */
  object(name: string): ObjectType | undefined;
  readonly queries: readonly RootField[];
  readonly mutations: readonly RootField[];
  readonly secrets: ReadonlyMap<string, Secret>;
  readonly authorization?: Authorization;
  /** empty: any origin */
  readonly allowedOrigins: readonly string[];
  /** some type has @key */
  readonly federated: boolean;
}
