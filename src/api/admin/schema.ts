/** The administration API: small, fixed, and separate from what is generated. */
export const ADMIN_SDL = `
"""The GraphQL schema that is served."""
type GQLSchema {
  id: ID!
  "the type definitions as they were uploaded"
  schema: String!
  "the API that is generated from them"
  generatedSchema: String!
}

type NodeState {
  instance: String
  address: String
  status: String
  group: String
  version: String
  "seconds since the start"
  uptime: Int
  "seconds since 1970 of the last sign of life"
  lastEcho: Int
  "index builds that run now"
  ongoing: [String]
  indexing: [String]
  "what the peer's licence would add; nothing here needs one"
  ee_features: [String]
}

type Tablet {
  predicate: String
  groupId: Int
  readOnly: Boolean
  "its bytes; they are not counted apart"
  space: Int
  "what moving it to another group would need; there is no other"
  force: Boolean
  remove: Boolean
  moveTs: Int
}

"A process of a group; there is one."
type Member {
  id: ID
  groupId: Int
  addr: String
  leader: Boolean
  amDead: Boolean
  lastUpdate: Int
  clusterInfoOnly: Boolean
  forceGroupId: Boolean
}

type Group {
  id: ID
  members: [Member]
  tablets: [Tablet]
  snapshotTs: Int
  checksum: Int
}

type MembershipState {
  "raised with every commit"
  counter: Int
  groups: [Group]
  "processes that only coordinate others; there are none"
  zeros: [Member]
  removed: [Member]
  "the one that all data is in"
  namespaces: [Int]
  maxTxnTs: Int
  "there is no cluster whose leases and name these are"
  maxUID: Int
  maxNsID: Int
  maxRaftId: Int
  cid: String
  "nothing here needs one"
  license: License
}

type License {
  user: String
  enabled: Boolean
  maxNodes: Int
  expiryTs: Int
}

type UpdateGQLSchemaPayload {
  gqlSchema: GQLSchema
}

type Response {
  code: String
  message: String
}

type ExportPayload {
  response: Response
  "names the export for \`task\`; who asks for it, and for no files, is answered before they are written"
  taskId: String
  "their names, once they are written"
  exportedFiles: [String]
}

enum TaskKind {
  Backup
  Export
  Unknown
}

enum TaskStatus {
  Queued
  Running
  Failed
  Success
  Unknown
}

type TaskPayload {
  kind: TaskKind
  status: TaskStatus
  "when the status became what it is; RFC 3339"
  lastUpdated: DateTime
}

scalar DateTime

type DrainingPayload {
  response: Response
}

type ShutdownPayload {
  response: Response
}

input GQLSchemaPatch {
  schema: String!
}

input UpdateGQLSchemaInput {
  set: GQLSchemaPatch!
}

input ExportInput {
  "rdf or json"
  format: String
  "a folder inside that of exports, such as nightly"
  destination: String
}

input TaskInput {
  id: String!
}

type Query {
  getGQLSchema: GQLSchema
  health: [NodeState]
  state: MembershipState
  "what has become of an export, by its taskId"
  task(input: TaskInput!): TaskPayload
}

type Mutation {
  updateGQLSchema(input: UpdateGQLSchemaInput!): UpdateGQLSchemaPayload
  export(input: ExportInput): ExportPayload
  "new requests are refused while it is on; those under way end"
  draining(enable: Boolean): DrainingPayload
  "ends the process as SIGTERM does"
  shutdown: ShutdownPayload
}
`;
