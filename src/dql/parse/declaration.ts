import type { ParseContext } from './context.js';
import { invalid } from './invalid.js';
import type { VariableType } from './variable.js';

const TYPES: ReadonlySet<string> = new Set(['int', 'float', 'bool', 'string', 'float32vector']);

/** `($a: int = 2, $b: string!)`, its opening bracket being the current token. */
export function declareVariables(context: ParseContext): void {
  context.expect('(', 'before the variables');
  context.list(')', 'variable', () => declareOne(context));
  context.expect(')', 'after the variables');
}

function declareOne(context: ParseContext): void {
  const { lexer, variables } = context;
  if (lexer.kind !== 'variable')
    throw context.unexpected('a variable such as $name', 'Declare each as $name: type, with commas between.');
  const { value: name, position } = lexer;
  variables.assertNew(name, position);
  lexer.next();
  context.expect(':', `between ${name} and its type`);
  const type = typeOf(context, name);
  const required = context.accept('!');
  const fallback = context.accept('=') ? defaultOf(context) : undefined;
  if (required && fallback !== undefined) {
    throw invalid(`the variable ${name} is required and has a default`, position, 'Remove "!" or the default.');
  }
  variables.declare(name, { type, required, fallback }, position);
}

function typeOf(context: ParseContext, name: string): VariableType {
  const { position } = context;
  const type = context.takeName(`the type of ${name}`).toLowerCase();
  if (TYPES.has(type)) return type as VariableType;
  throw invalid(`the variable ${name} has the unknown type ${type}`, position, `Use one of ${[...TYPES].join(', ')}.`);
}

function defaultOf(context: ParseContext): string {
  const { lexer } = context;
  const sign = lexer.kind === '-' ? '-' : '';
  if (sign) lexer.next();
  if (!(lexer.kind === 'number' || (!sign && (lexer.kind === 'string' || lexer.kind === 'name')))) {
    throw context.unexpected('a default value', 'Write a number, a word, or a text in quotes.');
  }
  const text = sign + lexer.value;
  lexer.next();
  return text;
}
