export { holdsCondition } from './condition.js';
export { Pace } from './pace.js';
export { Places } from './places.js';
export { placeOf } from './uid-set.js';
export { runQuery } from './run.js';
export { GLOBAL_UID, uidsOf, valueAt, valueFor } from './variable.js';
