export type * from './contract.js';
export { outgoingHeaders } from './header.js';
export { createHttpClient } from './http-client.js';
export {
  introspect,
  type RemoteField,
  type RemoteInput,
  type RemoteSchema,
  type RemoteType,
  type RemoteTypeRef,
  remoteTypeName,
  remoteTypeText,
} from './introspection.js';
export { readGraphqlReply, readRestReply } from './reply.js';
export { fillBody, fillUrl } from './template.js';
