export { serviceAddress } from './address.js';
export { clientLeft, outcomeUnknown, writerAway } from './failure.js';
export {
  createForwarder,
  type Answered,
  type Forwarder,
  type ForwardTerms,
  type Received,
  wasForwarded,
} from './forwarder.js';
export { FORWARDED, STOPPING } from './headers.js';
export { Places } from './places.js';
