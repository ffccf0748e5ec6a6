import type { Value } from './contract.js';
import { formatDateTime } from './date-time.js';
import { geometryText } from './geo/geojson.js';
import { vectorText } from './vector.js';

/** A value as text: what conversion to string, group keys, facets and RDF show. */
export function valueText(value: Value): string {
  switch (value.type) {
    case 'datetime':
      return formatDateTime(value.value);
    case 'geo':
      return geometryText(value.value);
    case 'float32vector':
      return vectorText(value.value);
    default:
      return String(value.value);
  }
}
