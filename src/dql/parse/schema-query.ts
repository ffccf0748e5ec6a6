import type { SchemaQuery } from '../syntax/index.js';
import type { ParseContext } from './context.js';

/** `schema(pred: [a, b]) { type index }` after the word schema. */
export function parseSchemaQuery(context: ParseContext): SchemaQuery {
  const { position } = context;
  context.lexer.next();
  const of = context.is('(') ? parseOf(context) : {};
  context.expect('{', 'after schema');
  const fields: string[] = [];
  while (!context.accept('}')) {
    if (context.accept(',')) continue;
    fields.push(context.takeName('a property such as type or index'));
  }
  return { ...of, fields, position };
}

function parseOf(context: ParseContext): Pick<SchemaQuery, 'predicates' | 'types'> {
  context.lexer.next();
  const fix = 'Invalid schema block. Write schema(pred: [a, b]) { ... }, schema(type: T) { ... } or schema { ... }.';
  const word = context.is('name') ? context.value.toLowerCase() : '';
  const what = word === 'pred' || word === 'preds' ? 'pred' : word === 'type' || word === 'types' ? 'type' : undefined;
  if (what === undefined) throw context.unexpected('pred or type in schema(...)', fix);
  context.lexer.next();
  context.expect(':', `after ${word}`);
  const names: string[] = [];
  if (context.accept('[')) {
    context.list(']', 'name', () => {
      names.push(context.names.stored(context.takeName('a name')));
    });
    context.expect(']', 'after the names');
  } else names.push(context.names.stored(context.takeName('a name')));
  context.expect(')', 'after the names in schema(...)');
  return what === 'pred' ? { predicates: names } : { types: names };
}
