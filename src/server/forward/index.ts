export { createForwarder, type Answered, type Forwarder, type Received, wasForwarded } from './forwarder.js';
