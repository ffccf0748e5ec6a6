import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fillBody, fillUrl } from '../../src/outbound/index.js';
import { type BodyNode, parseBodyTemplate, parseUrlTemplate } from '../../src/sdl/index.js';

interface Case {
  readonly name: string;
  readonly url?: string;
  readonly template?: unknown;
  readonly variables?: Readonly<Record<string, unknown>>;
  readonly expected: unknown;
  readonly requiredFields?: readonly string[];
  readonly error?: string;
}

const folder = join(process.env['CONFORMANCE'] ?? '../shared/conformance', 'graphql');
const present = existsSync(folder);
function cases(file: string): [string, Case][] {
  if (!present) return [];
  const { cases: all } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { cases: Case[] };
  return all.map((one) => [one.name, one]);
}

/** A template as the cases write it parsed: `$name` is a variable. */
function nodeOf(template: unknown): BodyNode {
  if (typeof template === 'string' && template.startsWith('$')) return { kind: 'variable', name: template.slice(1) };
  if (Array.isArray(template)) return { kind: 'list', items: template.map(nodeOf) };
  if (typeof template === 'object' && template !== null) {
    return { kind: 'object', fields: Object.entries(template).map(([key, value]) => ({ key, value: nodeOf(value) })) };
  }
  return { kind: 'constant', value: template as string | number | boolean | null };
}

function shown(node: BodyNode): unknown {
  if (node.kind === 'variable') return `$${node.name}`;
  if (node.kind === 'constant') return node.value;
  if (node.kind === 'list') return node.items.map(shown);
  return Object.fromEntries(node.fields.map(({ key, value }) => [key, shown(value)]));
}

// the cases are not part of this repository
describe.skipIf(!present)('template cases', () => {
  it.each(cases('template-url.json'))('url: %s', (_, one) => {
    expect(fillUrl(parseUrlTemplate(String(one.url)), one.variables ?? {})).toBe(one.expected);
  });

  it.each(cases('template-body.json'))('body: %s', (_, one) => {
    expect(fillBody(nodeOf(one.template), one.variables ?? {})).toEqual(one.expected);
  });

  it.each(cases('template-body-parse.json'))('parsing: %s', (_, one) => {
    if (one.error !== undefined) {
      expect(() => parseBodyTemplate(String(one.template))).toThrow(expect.objectContaining({ code: 'INVALID_SDL' }));
      return;
    }
    const parsed = parseBodyTemplate(String(one.template));
    expect(parsed ? shown(parsed.root) : null).toEqual(one.expected);
    expect(parsed?.variables ?? []).toEqual(one.requiredFields);
  });
});
