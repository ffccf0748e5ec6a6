import type {
  Argument,
  Block,
  FacetFilter,
  FacetRequest,
  Filter,
  FunctionCall,
  MathExpression,
  OrderKey,
  Page,
  QueryDocument,
  Selection,
} from '../../src/dql/index.js';
import { variablesOf } from '../../src/dql/parse/uses.js';

// Our syntax nodes in the shape that the checks of the unit cases lead into.

type View = Record<string, unknown>;

export function viewOf(document: QueryDocument): View {
  const { schema } = document;
  return {
    Query: document.blocks.map(viewBlock),
    QueryVars: document.blocks.map((block) => {
      const { defined, used } = variablesOf(block);
      return { Defines: defined.map(({ name }) => name), Needs: used.map(({ name }) => name) };
    }),
    Schema: schema ? { Predicates: schema.predicates ?? [], Types: schema.types ?? [], Fields: schema.fields } : null,
  };
}

function viewBlock(block: Block): View {
  const { root, shortest } = block;
  const uids = root?.name === 'uid' ? root.args.flatMap((arg) => (arg.kind === 'uid' ? [arg.uid] : [])) : [];
  return {
    ...viewCommon(block),
    Alias: block.isVar || shortest ? block.name : block.name,
    Var: block.variable ?? '',
    Func: root ? viewCall(root) : null,
    UID: uids,
    NeedsVar: [...(root ? needs(root) : []), ...block.order.flatMap(needsOfOrder)],
    RecurseArgs: { Depth: block.recurse?.depth ?? 0, AllowLoop: block.recurse?.loop ?? false },
    ...(shortest
      ? {
          ShortestPathArgs: { From: viewUid(shortest.from), To: viewUid(shortest.to) },
          Args: {
            numpaths: String(shortest.numPaths),
            minweight: String(shortest.minWeight),
            maxweight: String(shortest.maxWeight),
            maxfrontiersize: String(shortest.maxFrontierSize),
          },
        }
      : {}),
  };
}

function viewUid(end: { kind: 'uid'; uid: number } | { kind: 'variable'; name: string }): View {
  return end.kind === 'uid' ? { UID: [end.uid] } : { NeedsVar: [{ Name: end.name, Typ: 'UidVar' }] };
}

function viewCommon(node: Block | Extract<Selection, { kind: 'predicate' | 'expand' }>): View {
  return {
    Children: node.children.map(viewSelection),
    Filter: node.filter ? viewFilter(node.filter) : null,
    Order: node.order.map(viewOrder),
    Args: viewPage(node.page),
    Normalize: node.directives.normalize,
    Cascade: node.directives.cascade ?? null,
    IgnoreReflex: node.directives.ignoreReflex,
    GroupbyAttrs: ('groupBy' in node ? (node.groupBy?.keys ?? []) : []).map((key) => ({
      Attr: key.name,
      Alias: key.alias ?? '',
      Langs: key.langs,
    })),
  };
}

function viewSelection(selection: Selection): View {
  const head = { Alias: selection.alias ?? '', Var: selection.variable ?? '' };
  switch (selection.kind) {
    case 'predicate':
      return {
        ...head,
        ...viewCommon(selection),
        ...viewFacets(selection.facets, selection.facetFilter),
        Attr: selection.shown.split('@')[0],
        Langs: selection.langs,
        IsCount: false,
      };
    case 'countPredicate':
      return { ...head, Attr: selection.shown.split('@')[0], Langs: selection.langs, IsCount: true };
    case 'countUid':
      return { ...head, Attr: 'uid', IsCount: true };
    case 'uid':
      return { ...head, Attr: 'uid' };
    case 'value':
      return { ...head, Attr: 'val', NeedsVar: [{ Name: selection.of, Typ: 'ValueVar' }] };
    case 'math':
      return { ...head, Attr: 'math', MathExp: viewMath(selection.expression) };
    case 'aggregate':
      return {
        ...head,
        Attr: selection.of.kind === 'predicate' ? selection.of.name : 'val',
        Langs: selection.of.kind === 'predicate' ? selection.of.langs : [],
        Func: { Name: selection.op },
      };
    case 'expand':
      return { ...head, ...viewCommon(selection), Attr: 'expand', Expand: expanded(selection.of) };
    case 'checkPassword':
      return { ...head, Attr: selection.shown, Func: { Name: 'checkpwd', Args: [{ Value: selection.password }] } };
    default:
      return head;
  }
}

function expanded(of: Extract<Selection, { kind: 'expand' }>['of']): string {
  return of.kind === 'all' ? '_all_' : of.kind === 'types' ? of.names.join(',') : of.name;
}

function viewFacets(request: FacetRequest | undefined, filter: FacetFilter | undefined): View {
  const keys = [...(request?.keys ?? [])].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return {
    Facets: request
      ? { AllKeys: request.all, Param: keys.map(({ key, alias }) => ({ Key: key, Alias: alias ?? '' })) }
      : null,
    FacetVar: Object.fromEntries(keys.map(({ key, variable }) => [key, variable ?? ''])),
    FacetsOrder: (request?.order ?? []).map(({ key, descending }) => ({ Key: key, Desc: descending })),
    FacetsFilter: filter
      ? {
          'debugString()': facetText(filter),
          Func: filter.kind === 'test' ? { Name: filter.fn, Args: filter.args.map((Value) => ({ Value })) } : null,
        }
      : null,
  };
}

function viewPage(page: Page): View {
  const entries = Object.entries(page).map(([key, value]) => {
    if (typeof value === 'number') return [key, String(value)];
    const uid = value as { kind: string; uid?: number; name?: string };
    return [key, uid.kind === 'uid' ? `0x${uid.uid?.toString(16)}` : `uid(${uid.name})`];
  });
  return Object.fromEntries(entries) as View;
}

function viewOrder({ by, descending }: OrderKey): View {
  if (by.kind === 'facet') return { Attr: by.key, Desc: descending };
  const langs = by.kind === 'predicate' && by.langs.length > 0 ? by.langs : null;
  return { Attr: by.name, Desc: descending, Langs: langs };
}

function needsOfOrder({ by }: OrderKey): View[] {
  return by.kind === 'variable' ? [{ Name: by.name, Typ: 'ValueVar' }] : [];
}

function needs({ subject, args }: FunctionCall): View[] {
  return [
    ...(subject?.kind === 'value' ? [{ Name: subject.variable, Typ: 'ValueVar' }] : []),
    ...args.flatMap((arg) => {
      if (arg.kind === 'uidVariable') return [{ Name: arg.name, Typ: 'UidVar' }];
      return arg.kind === 'value' ? [{ Name: arg.variable, Typ: 'ValueVar' }] : [];
    }),
  ];
}

function viewCall(call: FunctionCall): View {
  const { name, subject, args } = call;
  return {
    Name: name,
    Attr: subjectName(subject),
    Lang: subject?.kind === 'predicate' ? (subject.langs[0] ?? '') : '',
    IsCount: subject?.kind === 'count',
    IsValueVar: subject?.kind === 'value',
    Args: name === 'uid' ? [] : args.flatMap(viewArgument),
    NeedsVar: needs(call),
  };
}

function subjectName(subject: FunctionCall['subject']): string {
  if (subject === undefined) return '';
  return subject.kind === 'predicate' ? subject.shown : subject.kind === 'count' ? subject.name : subject.variable;
}

function viewArgument(arg: Argument): View[] {
  if (arg.kind === 'value') return [{ Value: arg.variable, IsValueVar: true }];
  if (arg.kind === 'uidVariable') return [];
  if (arg.kind === 'uid') return [{ Value: `0x${arg.uid.toString(16)}`, IsValueVar: false }];
  if (arg.kind === 'regexp') return [{ Value: arg.pattern, IsValueVar: false }, { Value: arg.flags }];
  return [{ Value: arg.text, IsValueVar: false }];
}

function viewFilter(filter: Filter): View {
  return {
    Op: filter.kind === 'call' ? '' : filter.kind,
    Func: filter.kind === 'call' ? viewCall(filter.call) : null,
    'debugString()': filterText(filter),
  };
}

/** Chains of three and more lean to the left there. */
function chain(op: string, texts: readonly string[]): string {
  return texts.reduce((left, right) => `(${op} ${left} ${right})`);
}

function filterText(filter: Filter): string {
  if (filter.kind === 'not') return `(NOT ${filterText(filter.child)})`;
  if (filter.kind !== 'call') return chain(filter.kind.toUpperCase(), filter.children.map(filterText));
  const { name, subject, args } = filter.call;
  const attr = subject?.kind === 'count' ? `count(${subjectName(subject)})` : subjectName(subject);
  const shown = args.map((arg) => {
    const [shown] = viewArgument(arg);
    return arg.kind === 'uid' ? String(shown['Value']) : JSON.stringify(shown?.['Value']);
  });
  return `(${[name, attr, ...shown].filter(Boolean).join(' ')})`;
}

function facetText(filter: FacetFilter): string {
  if (filter.kind === 'not') return `(NOT ${facetText(filter.child)})`;
  if (filter.kind !== 'test') return chain(filter.kind.toUpperCase(), filter.children.map(facetText));
  return `(${filter.fn} ${filter.key} ${filter.args.map((arg) => JSON.stringify(arg)).join(' ')})`;
}

function viewMath(expression: MathExpression): View {
  const constant =
    expression.kind === 'constant'
      ? {
          Tid: expression.type,
          Value: Number.isNaN(Number(expression.text)) ? expression.text : Number(expression.text),
        }
      : undefined;
  return {
    'debugString()': mathText(expression),
    Const: constant,
    Child: expression.kind === 'apply' ? expression.args.map(viewMath) : [],
  };
}

function mathText(expression: MathExpression): string {
  if (expression.kind === 'constant') return expression.text;
  if (expression.kind === 'variable') return expression.name;
  return `(${expression.op} ${expression.args.map(mathText).join(' ')})`;
}
