import { atOnce, inSteps, type MaybePromise, type Steps } from '../../../base/index.js';
import type { Predicate, UidList } from '../../../graph/index.js';
import {
  decodeValue,
  geoQueryTokens,
  type GeoQuery,
  matchesGeoInSteps,
  isPlace,
  parseGeometry,
  type Place,
  shapeOf,
  type StoredValue,
  tokenizer,
} from '../../../values/index.js';
import type { FunctionCall } from '../../syntax/index.js';
import type { Execution } from '../execution.js';
import { EMPTY, union } from '../uid-set.js';
import { checkType, indexedBy, invalid, readAt, subjectOf, textOf } from './argument.js';
import { filterByValues } from './by-value.js';
import type { CallOperator } from './contract.js';

/** near, within, contains, intersects */
export const geoCall: CallOperator = {
  async root(call, execution) {
    const predicate = indexedBy('geo', call, execution);
    const query = queryOf(call, execution);
    const lists = await execution.reader.postings(predicate, 'geo', geoQueryTokens(query));
    return await check(predicate, union(lists), query, execution);
  },

  async filter(call, candidates, execution) {
    const predicate = execution.predicate(subjectOf(call).name);
    if (predicate) checkType(predicate, tokenizer('geo').types, call);
    const query = queryOf(call, execution);
    return predicate ? await check(predicate, candidates, query, execution) : EMPTY;
  },
};

function check(predicate: Predicate, candidates: UidList, query: GeoQuery, execution: Execution): Promise<UidList> {
  return filterByValues(execution, predicate, candidates, [], (values) => anyMatches(values, query, execution));
}

/** Points are compared at once: there may be many, and each is little work. */
function anyMatches(values: readonly StoredValue[], query: GeoQuery, execution: Execution): MaybePromise<boolean> {
  const stored = values
    .map(decodeValue)
    .flatMap((value) => (value.type === 'geo' && isPlace(value.value) ? [value.value] : []));
  if (stored.every(({ type }) => type === 'Point')) return stored.some((one) => atOnce(matchesGeoInSteps(query, one)));
  return inSteps(matchesAny(query, stored), () => execution.checkpoint());
}

function* matchesAny(query: GeoQuery, stored: readonly Place[]): Steps<boolean> {
  for (const one of stored) if (yield* matchesGeoInSteps(query, one)) return true;
  return false;
}

function queryOf(call: FunctionCall, execution: Execution): GeoQuery {
  const region = placeOf(call, execution);
  if (call.name === 'near') {
    if (region.type !== 'Point')
      throw invalid('near needs a point', call.position, 'Write it as [longitude, latitude].');
    const meters = Number(textOf(call.args[1], call));
    if (!Number.isFinite(meters) || meters < 0) {
      throw invalid('near needs a distance that is no less than 0', call.position, 'Give it in meters.');
    }
    return { op: 'near', point: [region.coordinates[0], region.coordinates[1]], meters };
  }
  if (call.name === 'contains') return { op: 'contains', region };
  if (region.type === 'Point') {
    throw invalid(`${call.name} needs a polygon, not a point`, call.position, 'Give it a list of rings of points.');
  }
  return { op: call.name === 'within' ? 'within' : 'intersects', region };
}

function placeOf(call: FunctionCall, { names }: Execution): Place {
  const text = textOf(call.args[0], call);
  let json: unknown = text;
  try {
    json = JSON.parse(text);
  } catch {
    // parseGeometry reads texts with single quotes too, and says what is wrong with the rest
  }
  // what Dgraph lets be written beyond the globe can be asked for as well
  const geometry = readAt(call.args[0], () => (names.dgraph ? shapeOf(json) : parseGeometry(json)));
  if (isPlace(geometry)) return geometry;
  throw invalid(
    `${call.name} takes no ${geometry.type}`,
    call.position,
    'Give it a point, a polygon or a multipolygon.',
  );
}
