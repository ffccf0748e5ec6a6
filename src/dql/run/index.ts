export { holdsCondition } from './condition.js';
export { Pace } from './pace.js';
export { Places, placeOf } from './places.js';
export { runQuery } from './run.js';
export { GLOBAL_UID, uidsOf, valueAt, valueFor } from './variable.js';
