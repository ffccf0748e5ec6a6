export { openService, type Service, type ServiceOptions } from './service.js';
