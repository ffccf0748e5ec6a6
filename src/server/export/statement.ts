import { printChange } from '../../dql/index.js';
import { type GraphChange, hexUid } from '../../graph/index.js';
import { type Value, valueText } from '../../values/index.js';

export type ExportFormat = 'rdf' | 'json';

/** A setting change, as exports hold them. */
export type Statement = Extract<GraphChange, { op: 'setValue' | 'setEdge' }>;

/** How one statement stands in a file, without what separates it from the next. */
export const PRINT: Readonly<Record<ExportFormat, (statement: Statement) => string>> = {
  rdf: printChange,
  json: printJson,
};

/** One statement as an object of a JSON mutation. A facet's key goes by the value's, language included. */
function printJson(statement: Statement): string {
  const { uid, predicate, facets = [] } = statement;
  const key = statement.op === 'setEdge' || statement.lang === '' ? predicate : `${predicate}@${statement.lang}`;
  const own = facets.map((facet) => `${JSON.stringify(`${key}|${facet.key}`)}:${jsonOf(facet.value)}`);
  const node = `"uid":"${hexUid(uid)}"`;
  if (statement.op === 'setEdge') {
    const object = [`"uid":"${hexUid(statement.object)}"`, ...own].join(',');
    return `{${node},${JSON.stringify(key)}:{${object}}}`;
  }
  return `{${[node, `${JSON.stringify(key)}:${jsonOf(statement.value)}`, ...own].join(',')}}`;
}

/** Numbers digit by digit: a 64-bit int is a JSON number too, and our reader keeps every digit. */
function jsonOf(value: Value): string {
  switch (value.type) {
    case 'bool':
    case 'int':
      return String(value.value);
    case 'float':
      return Number.isInteger(value.value) && !String(value.value).includes('e')
        ? `${value.value}.0`
        : String(value.value);
    case 'geo':
      return valueText(value);
    default:
      return JSON.stringify(valueText(value));
  }
}
