export { eventData } from './chat-stream.js';
export { type CallLog, type CallTotals, createCallLog } from './call-log.js';
export {
  type AppConfig,
  type ConnectionConfig,
  configJsonSchema,
  EMPTY_CONFIG,
  type ModelConfig,
  readConfig,
} from './config.js';
export { ENV_FILES, readEnvironment } from './environment.js';
export { parseJsonc } from './jsonc.js';
export { type ResolvedConnections, resolveConnections } from './resolve.js';
export type { CallListener, CallRecord, ModelUse } from './record.js';
export { type ConnectionReport, type ModelReport, type Reachable, reach, reportConnections } from './report.js';
export {
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
