import { addTo } from '../../base/index.js';
import type { Facets } from '../../graph/index.js';
import type { Value } from '../../values/index.js';
import type { FacetRequest, Selection } from '../syntax/index.js';

/** The key of a selection in the answer: its alias, or what the client wrote. */
export function answerKey(selection: Selection): string {
  if (selection.alias !== undefined) return selection.alias;
  switch (selection.kind) {
    case 'predicate':
      return selection.shown;
    case 'uid':
      return 'uid';
    case 'countUid':
      return 'count';
    case 'countPredicate':
      return `count(${selection.shown})`;
    case 'value':
      return `val(${selection.of})`;
    case 'aggregate': {
      const { of, op } = selection;
      return of.kind === 'variable' ? `${op}(val(${of.name}))` : `${op}(${of.name})`;
    }
    case 'math':
      return selection.variable === undefined ? 'math' : `val(${selection.variable})`;
    case 'checkPassword':
      return `checkpwd(${selection.shown})`;
    default:
      return selection.kind;
  }
}

/** `@*` and expand() give each language a key of its own: `name`, `name@en`. */
export function languageKey(selection: Selection, lang: string): string {
  const whole = answerKey(selection);
  const base = whole.endsWith('@*') ? whole.slice(0, -2) : whole;
  return lang === '' ? base : `${base}@${lang}`;
}

/** The facets that a request shows, with their keys: `friend|since`, or the facet's alias alone. */
export function shownFacets(
  request: FacetRequest | undefined,
  facets: Facets | undefined,
  base: string,
): readonly { readonly key: string; readonly value: Value }[] {
  if (!request || !facets || facets.length === 0) return [];
  const shown = shownKeys(request);
  return facets.flatMap(({ key, value }) => {
    const aliases = shown.get(key) ?? (request.all ? PLAIN : []);
    return aliases.map((alias) => ({ key: alias ?? `${base}|${key}`, value }));
  });
}

type Aliases = readonly (string | undefined)[];

const PLAIN: Aliases = [undefined];
const known = new WeakMap<FacetRequest, ReadonlyMap<string, Aliases>>();

/** Under which aliases a request shows each facet that it names; looked up once, since edges and names may be many. */
function shownKeys(request: FacetRequest): ReadonlyMap<string, Aliases> {
  let shown = known.get(request);
  if (!shown) {
    const asked = new Map<string, (string | undefined)[]>();
    for (const { key, alias } of request.keys) addTo(asked, key, alias);
    for (const { key } of request.order) if (!asked.has(key)) asked.set(key, [undefined]);
    known.set(request, asked);
    shown = asked;
  }
  return shown;
}
