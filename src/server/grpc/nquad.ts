import type * as Dgraph from 'dgraph-js';
import { GraphsteadError } from '../../base/index.js';
import { literalIri, type ScalarType } from '../../values/index.js';

/** How this protocol writes `*`. */
const ALL = '_STAR_ALL';

/** A statement that came as a message, as one line of N-Quads. Throws INVALID_MUTATION and INVALID_VALUE. */
export function printNQuad(nquad: Dgraph.NQuad): string {
  if (nquad.getFacetsList().length > 0) throw notText('facets');
  const predicate = nquad.getPredicate();
  return `${node(nquad.getSubject())} ${predicate === ALL ? '*' : named(predicate)} ${object(nquad)} .`;
}

function object(nquad: Dgraph.NQuad): string {
  const value = nquad.getObjectValue();
  if (value === undefined || nquad.getObjectId() !== '') return node(nquad.getObjectId());
  if (value.hasUidVal()) return named(String(value.getUidVal()));
  const [type, text] = literal(value);
  if (type === 'default' && text === ALL) return '*';
  const iri = literalIri(type);
  const tag = nquad.getLang() !== '' ? `@${nquad.getLang()}` : iri === '' ? '' : `^^<${iri}>`;
  return JSON.stringify(text) + tag;
}

function literal(value: Dgraph.Value): [type: ScalarType, text: string] {
  if (value.hasDefaultVal()) return ['default', value.getDefaultVal()];
  if (value.hasStrVal()) return ['string', value.getStrVal()];
  if (value.hasPasswordVal()) return ['password', value.getPasswordVal()];
  if (value.hasBoolVal()) return ['bool', String(value.getBoolVal())];
  if (value.hasDoubleVal()) return ['float', String(value.getDoubleVal())];
  if (!value.hasIntVal()) throw notText('values other than text, numbers and booleans');
  const int = value.getIntVal();
  // the client that reads the message keeps it as a float
  if (!Number.isSafeInteger(int)) throw notText('whole numbers beyond 2^53');
  return ['int', String(int)];
}

function node(text: string): string {
  return text === ALL ? '*' : /^uid\([^()<>"\s]+\)$/.test(text) ? text : named(text);
}

function named(text: string): string {
  if (!text.includes('>')) return `<${text}>`;
  throw new GraphsteadError('INVALID_MUTATION', `">" cannot stand in ${JSON.stringify(text)}`, {
    fix: 'Use another name.',
  });
}

function notText(what: string): GraphsteadError {
  return new GraphsteadError('INVALID_MUTATION', `${what} are not taken from NQuad messages`, {
    fix: 'Send the statement as text: set_nquads or set_json.',
  });
}
