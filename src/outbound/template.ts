import { GraphsteadError, stepsUp } from '../base/index.js';
import type { BodyNode, TemplateValues, UrlPart, UrlTemplate } from './contract.js';

/**
 * A url with its variables filled in. Values of the path are escaped; those of the query are form-encoded: null is
 * `name=`, an absent one is left out, a list repeats its name. Throws INVALID_VALUE for a path value that is missing or
 * would lead elsewhere: `..`, or an empty text where a whole segment is expected, so that `/things/$id` would be the collection.
 */
export function fillUrl(template: UrlTemplate, values: TemplateValues): string {
  const path = template.path.map((part) =>
    part.kind === 'text' ? part.text : pathValue(part.name, values[part.name]),
  );
  const filled = path.join('');
  const dots = filled.split('/').find((segment) => /^(?:\.|%2e){1,2}$/i.test(segment) || stepsUp(segment));
  if (dots !== undefined && template.path.some((part) => part.kind === 'variable')) {
    throw new GraphsteadError('INVALID_VALUE', `a value makes "${dots}" a part of the url's path`, {
      fix: 'Give a value that does not lead out of the path.',
    });
  }
  const emptied = emptySegment(template, filled);
  if (emptied !== undefined) {
    throw new GraphsteadError('INVALID_VALUE', `the url's path needs ${emptied}, which is empty`, {
      fix: `Give ${emptied} a value: without one the path would lead elsewhere.`,
    });
  }
  const query = template.query.flatMap(({ name, value }) => parameter(name, value, values));
  return query.length > 0 ? `${filled}?${query.join('&')}` : filled;
}

/** What variables leave a segment of the path empty; undefined where none is. A value brings no slash of its own. */
function emptySegment({ path }: UrlTemplate, filled: string): string | undefined {
  const named = path.map((part) => (part.kind === 'text' ? part.text : `$${part.name}`)).join('');
  const segments = filled.split('/');
  return named.split('/').find((name, at) => name !== '' && segments[at] === '');
}

function pathValue(name: string, value: unknown): string {
  if (value === null || value === undefined) {
    throw new GraphsteadError('INVALID_VALUE', `the url's path needs ${name}, which has no value`, {
      fix: `Give ${name} a value: what stands in a path must not be null.`,
    });
  }
  return encodeURIComponent(flat(value));
}

/** A value as one text; lists and objects, where they are accepted, with commas. */
function flat(value: unknown): string {
  if (Array.isArray(value)) return value.map(flat).join(',');
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([key, item]) => `${key},${flat(item)}`)
      .join(',');
  }
  return value === null || value === undefined ? '' : String(value);
}

function parameter(name: string, part: UrlPart | undefined, values: TemplateValues): string[] {
  if (!part) return [name];
  if (part.kind === 'text') return [`${name}=${part.text}`];
  if (!Object.hasOwn(values, part.name) || values[part.name] === undefined) return [];
  return pairs(name, values[part.name]).map(([key, value]) => `${key}=${formEncode(value)}`);
}

function pairs(name: string, value: unknown): [string, string][] {
  if (Array.isArray(value)) return value.map((item) => [name, flat(item)]);
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).map(([key, item]) => [formEncode(key), flat(item)]);
  }
  return [[name, flat(value)]];
}

function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/**
 * A body with its variables filled in; undefined when it is one variable without a value. Null stays null; a field or
 * an item whose variable is absent is left out.
 */
export function fillBody(node: BodyNode, values: TemplateValues): unknown {
  switch (node.kind) {
    case 'constant':
      return node.value;
    case 'variable':
      return Object.hasOwn(values, node.name) ? values[node.name] : undefined;
    case 'list':
      return node.items.map((item) => fillBody(item, values)).filter((item) => item !== undefined);
    default:
      return fillObject(node.fields, values);
  }
}

function fillObject(fields: Extract<BodyNode, { kind: 'object' }>['fields'], values: TemplateValues): unknown {
  const entries: [string, unknown][] = [];
  for (const { key, value } of fields) {
    const filled = fillBody(value, values);
    if (filled !== undefined) entries.push([key, filled]);
  }
  return Object.fromEntries(entries);
}
