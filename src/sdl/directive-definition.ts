export type Place =
  | 'object'
  | 'interface'
  | 'union'
  | 'enum'
  | 'input'
  | 'field'
  | 'enumValue'
  | 'inputField'
  | 'argument';

/** What an argument of a directive may hold; deeper shapes are checked by the directive's own rule. */
export type Shape = 'string' | 'boolean' | 'strings' | 'object' | 'rule' | 'list-or-string';

interface DirectiveDefinition {
  readonly places: readonly Place[];
  readonly arguments: Readonly<Record<string, { readonly shape: Shape; readonly required?: boolean }>>;
  /** one example, for the fix of a message */
  readonly example: string;
}

const optional = (shape: Shape) => ({ shape });
const required = (shape: Shape) => ({ shape, required: true });
const mapped: DirectiveDefinition = {
  places: ['object', 'interface', 'field'],
  // their own rules say more than "must be a string"
  arguments: { type: optional('object'), pred: optional('object') },
  example: '@dgraph(pred: "name")',
};

/** Every directive that may stand in type definitions. */
export const DIRECTIVES: Readonly<Record<string, DirectiveDefinition>> = {
  hasInverse: {
    places: ['field'],
    arguments: { field: required('string') },
    example: '@hasInverse(field: "posts")',
  },
  restrict: { places: ['field'], arguments: {}, example: 'author: Author! @restrict' },
  search: { places: ['field'], arguments: { by: optional('list-or-string') }, example: '@search(by: [term])' },
  embedding: { places: ['field'], arguments: {}, example: '@embedding' },
  dgraph: mapped,
  service: mapped,
  id: { places: ['field'], arguments: { interface: optional('boolean') }, example: '@id' },
  default: {
    places: ['field'],
    arguments: { add: optional('object'), update: optional('object') },
    example: '@default(add: {value: "1"})',
  },
  withSubscription: { places: ['object', 'interface', 'field'], arguments: {}, example: '@withSubscription' },
  secret: {
    places: ['object', 'interface'],
    arguments: { field: required('string'), pred: optional('string') },
    example: '@secret(field: "pwd")',
  },
  auth: {
    places: ['object', 'interface'],
    arguments: {
      password: optional('rule'),
      query: optional('rule'),
      add: optional('rule'),
      update: optional('rule'),
      delete: optional('rule'),
    },
    example: '@auth(query: {rule: "{$ROLE: {eq: \\"ADMIN\\"}}"})',
  },
  custom: {
    places: ['field'],
    arguments: { http: optional('object'), dql: optional('string') },
    example: '@custom(http: {url: "https://api.example.com/$id", method: GET})',
  },
  remote: { places: ['object', 'interface', 'union', 'input', 'enum'], arguments: {}, example: '@remote' },
  remoteResponse: {
    places: ['field'],
    arguments: { name: required('string') },
    example: '@remoteResponse(name: "full_name")',
  },
  generate: {
    places: ['object', 'interface'],
    arguments: { query: optional('object'), mutation: optional('object'), subscription: optional('boolean') },
    example: '@generate(query: {get: false})',
  },
  deprecated: {
    places: ['field', 'enumValue', 'inputField', 'argument'],
    arguments: { reason: optional('string') },
    example: '@deprecated(reason: "use b")',
  },
  key: { places: ['object', 'interface'], arguments: { fields: required('string') }, example: '@key(fields: "id")' },
  extends: { places: ['object', 'interface'], arguments: {}, example: '@extends' },
  external: { places: ['field'], arguments: {}, example: '@external' },
  requires: { places: ['field'], arguments: { fields: required('string') }, example: '@requires(fields: "price")' },
  provides: { places: ['field'], arguments: { fields: required('string') }, example: '@provides(fields: "name")' },
};

/** Accepted under `--compat dgraph` alone: what they mark answers null. */
export const PEER_DIRECTIVES: Readonly<Record<string, DirectiveDefinition>> = {
  lambda: { places: ['field'], arguments: {}, example: '@lambda' },
  lambdaOnMutate: {
    places: ['object', 'interface'],
    arguments: { add: optional('boolean'), update: optional('boolean'), delete: optional('boolean') },
    example: '@lambdaOnMutate(add: true)',
  },
};

/** Ours: under `--compat dgraph` they are passed over, as the peer passes over what it does not know. */
export const OWN_DIRECTIVES: ReadonlySet<string> = new Set(['restrict']);

/** A directive of this name means something in type definitions. */
export const isDirective = (name: string): boolean =>
  Object.hasOwn(DIRECTIVES, name) || Object.hasOwn(PEER_DIRECTIVES, name);
