export type { Reloaded } from './app-host.js';
export { type Exported, writeParts } from './export/file.js';
export { type ExportPart, exportParts } from './export/part.js';
export type { ExportFormat } from './export/statement.js';
export { isLoopback } from './keys.js';
export { logLevel } from './variables.js';
export { openService, type Service } from './service.js';
export type { ServiceOptions } from './service-options.js';
