import { type Facets, type GraphChange, hexUid } from '../../graph/index.js';
import { literalIri, type Value, valueText } from '../../values/index.js';

/** A setting change as one line of N-Quads (without the newline): what export writes, and import reads to the same change. */
export function printChange(change: GraphChange): string {
  if (change.op === 'setEdge') {
    return `<${hexUid(change.uid)}> <${change.predicate}> <${hexUid(change.object)}>${printFacets(change.facets)} .`;
  }
  if (change.op !== 'setValue') throw new TypeError(`a ${change.op} has no N-Quad`);
  return `<${hexUid(change.uid)}> <${change.predicate}> ${printLiteral(change.value, change.lang)}${printFacets(change.facets)} .`;
}

/** `"text"`, `"text"@lang` or `"text"^^<type>`. */
function printLiteral(value: Value, lang: string): string {
  const text = JSON.stringify(valueText(value));
  if (lang !== '') return `${text}@${lang}`;
  const iri = literalIri(value.type);
  return iri === '' ? text : `${text}^^<${iri}>`;
}

function printFacets(facets: Facets | undefined): string {
  if (!facets || facets.length === 0) return '';
  return ` (${facets.map(({ key, value }) => `${key}=${printFacet(value)}`).join(', ')})`;
}

// A float that happens to be whole would come back as an int without its point.
function printFacet(value: Value): string {
  if (value.type === 'string' || value.type === 'default') return JSON.stringify(value.value);
  const text = valueText(value);
  return value.type === 'float' && /^-?\d+$/.test(text) ? `${text}.0` : text;
}
