export { eventData } from './chat-stream.js';
export { type CallLog, createCallLog } from './call-log.js';
export type { CallTotals, ConnectionReport } from './info.js';
export { type AppConfig, type ConnectionConfig, configJsonSchema, EMPTY_CONFIG, readConfig } from './config.js';
export { readEnvironment } from './environment.js';
export { misnamedVariables } from './misnamed.js';
export { type ResolvedConnections, resolveConnections } from './resolve.js';
export { reach, reportConnections } from './report.js';
export { notSet } from './told.js';
export {
  type CustomCall,
  type CustomScript,
  type GraphCall,
  type GraphReply,
  type GraphScript,
  type HttpCall,
  type HttpReply,
  type HttpScript,
  type ModelCall,
  type ModelScript,
  openScripts,
  type ScriptedReply,
  type Scripts,
  type SqlCall,
  type SqlReply,
  type SqlScript,
} from './script/index.js';
