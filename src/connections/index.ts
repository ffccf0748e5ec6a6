export {
  type AppConfig,
  type ConnectionConfig,
  configJsonSchema,
  EMPTY_CONFIG,
  type ModelConfig,
  readConfig,
} from './config.js';
export { ENV_FILES, type Environment, readEnvironment } from './environment.js';
export { parseJsonc } from './jsonc.js';
export { variableName } from './placeholder.js';
export { type ResolvedConnections, resolveConnections } from './resolve.js';
