import {
  DirectiveLocation,
  GraphQLDirective,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLString,
  specifiedDirectives,
} from 'graphql';

/** `@cascade`: leave out nodes that lack one of the fields; without `fields`, one of the selected ones. */
const cascade = new GraphQLDirective({
  name: 'cascade',
  description: 'Leaves out nodes that lack one of the fields, or, without a list, one of those that are selected.',
  locations: [DirectiveLocation.FIELD],
  args: { fields: { type: new GraphQLList(GraphQLString) } },
});

const cacheControl = new GraphQLDirective({
  name: 'cacheControl',
  description: 'Lets the answer be kept for so many seconds.',
  locations: [DirectiveLocation.QUERY],
  args: { maxAge: { type: new GraphQLNonNull(GraphQLInt) } },
});

/** Directives that requests may use. */
export const REQUEST_DIRECTIVES: readonly GraphQLDirective[] = [...specifiedDirectives, cascade, cacheControl];

const OPEN = ['input AuthRule { and: [AuthRule] or: [AuthRule] not: AuthRule rule: String }'];
const CLOSED_TYPES = `enum HTTPMethod { GET POST PUT PATCH DELETE }
enum Mode { SINGLE BATCH }
input CustomHTTP {
  url: String!
  method: HTTPMethod!
  body: String
  graphql: String
  mode: Mode
  forwardHeaders: [String!]
  secretHeaders: [String!]
  introspectionHeaders: [String!]
  skipIntrospection: Boolean
}
input GenerateQueryParams { get: Boolean query: Boolean password: Boolean aggregate: Boolean }
input GenerateMutationParams { add: Boolean update: Boolean delete: Boolean }`;

/** What the directives of a federation's service may be used on. Its gateway knows the federation's own ones. */
const SERVICE = `input DgraphDefault { value: String }
directive @hasInverse(field: String!) on FIELD_DEFINITION
directive @search(by: [String!]) on FIELD_DEFINITION
directive @embedding on FIELD_DEFINITION
directive @dgraph(type: String, pred: String) on OBJECT | INTERFACE | FIELD_DEFINITION
directive @service(type: String, pred: String) on OBJECT | INTERFACE | FIELD_DEFINITION
directive @id(interface: Boolean) on FIELD_DEFINITION
directive @default(add: DgraphDefault, update: DgraphDefault) on FIELD_DEFINITION
directive @withSubscription on OBJECT | INTERFACE | FIELD_DEFINITION
directive @secret(field: String!, pred: String) on OBJECT | INTERFACE
directive @remote on OBJECT | INTERFACE | UNION | INPUT_OBJECT | ENUM
directive @remoteResponse(name: String) on FIELD_DEFINITION`;

const FULL = `directive @auth(password: AuthRule, query: AuthRule, add: AuthRule, update: AuthRule, delete: AuthRule) on OBJECT | INTERFACE
directive @custom(http: CustomHTTP, dql: String) on FIELD_DEFINITION
directive @generate(query: GenerateQueryParams, mutation: GenerateMutationParams, subscription: Boolean) on OBJECT | INTERFACE`;

const LAMBDA = `directive @lambda on FIELD_DEFINITION
directive @lambdaOnMutate(add: Boolean, update: Boolean, delete: Boolean) on OBJECT | INTERFACE`;

const RESTRICT = 'directive @restrict on FIELD_DEFINITION';

const FEDERATION = `directive @key(fields: _FieldSet!) on OBJECT | INTERFACE
directive @extends on OBJECT | INTERFACE
directive @external on FIELD_DEFINITION
directive @requires(fields: _FieldSet!) on FIELD_DEFINITION
directive @provides(fields: _FieldSet!) on FIELD_DEFINITION`;

/** Definitions of the directives that stand in a printed schema, and of what they take. */
export function directiveText(use: {
  readonly service: boolean;
  readonly lambda: boolean;
  readonly restrict: boolean;
  readonly federated: boolean;
}): string {
  const parts = [SERVICE, ...(use.lambda ? [LAMBDA] : []), ...(use.restrict ? [RESTRICT] : [])];
  if (!use.service) parts.unshift(...OPEN, CLOSED_TYPES);
  if (!use.service) parts.push(FULL);
  if (!use.service && use.federated) parts.push(FEDERATION);
  return parts.join('\n');
}

/** Directives that concern this service alone, and are not told to a gateway. */
export const PRIVATE_DIRECTIVES: ReadonlySet<string> = new Set(['auth', 'custom', 'generate', 'restrict']);
