import type { FunctionCall, FunctionName } from '../syntax/index.js';
import type { ParseContext } from './context.js';
import { invalid } from './invalid.js';

type Subject = NonNullable<FunctionCall['subject']>;

/** A predicate as a client writes it. `shown` keeps its spelling. */
interface PredicateName {
  readonly name: string;
  readonly shown: string;
  readonly reverse: boolean;
}

/** The stored name behind `friend`, `~friend` or `<http://...>`. */
export function predicateName(context: ParseContext, written: string): PredicateName {
  const reverse = written.charCodeAt(0) === 0x7e;
  return { name: context.names.stored(reverse ? written.slice(1) : written), shown: written, reverse };
}

/** What a function is asked of: `name@en`, `~friend`, `count(friend)`, `val(x)`, `len(x)`. */
export function parseSubject(context: ParseContext, fn: FunctionName): Subject {
  const { lexer } = context;
  if (lexer.kind !== 'name' && lexer.kind !== 'iri') {
    throw context.unexpected(`the predicate that ${fn} is asked of`, `Write it first, as in ${fn}(name, ...).`);
  }
  if (lexer.kind === 'name' && lexer.peek() === '(') return parseCounted(context, fn);
  const predicate = predicateName(context, context.takeName('a predicate'));
  return { kind: 'predicate', ...predicate, langs: context.is('@') ? parseFunctionLang(context) : [] };
}

function parseCounted(context: ParseContext, fn: FunctionName): Subject {
  const position = context.position;
  const word = context.value.toLowerCase();
  if (word !== 'count' && word !== 'val' && word !== 'len') {
    throw invalid(
      `${context.value}(...) cannot stand in ${fn}(...)`,
      position,
      'Only count, val and len can stand there.',
    );
  }
  context.lexer.next();
  context.lexer.next();
  const written = context.takeName(word === 'count' ? 'the predicate to count' : 'a variable');
  if (word === 'count' && context.is('@')) parseFunctionLang(context);
  context.expect(')', `after ${word}(${written}`);
  if (word === 'val') return { kind: 'value', variable: written };
  if (word === 'len') return { kind: 'length', variable: written };
  const { name, reverse } = predicateName(context, written);
  return { kind: 'count', name, reverse };
}

/** `@en` of a function's predicate: one language only. */
function parseFunctionLang(context: ParseContext): string[] {
  const langs = parseLangs(context, true);
  if (langs.includes('*')) {
    throw invalid(
      'a function cannot ask for all languages with *',
      context.position,
      'Name one language, as in name@en, or any of them with name@. instead.',
    );
  }
  return langs;
}

/** Languages after `@`, which is the current token: `en:fr:.`, `*`. */
export function parseLangs(context: ParseContext, single = false): string[] {
  context.expect('@', 'before a language');
  const langs: string[] = [];
  do {
    if (langs.at(-1) === '.') {
      throw context.lexer.error('"." (any language) must be the last of the languages', 'Put nothing after it.');
    }
    langs.push(parseLang(context));
  } while (!single && context.accept(':'));
  if (langs.length > 1 && langs.includes('*')) {
    throw context.lexer.error('"*" (all languages) stands alone', 'Write name@* or list the languages.');
  }
  return langs;
}

function parseLang(context: ParseContext): string {
  const { lexer } = context;
  if (lexer.kind === '.' || lexer.kind === '*') {
    const any = lexer.value;
    lexer.next();
    return any;
  }
  if (lexer.kind === '...') throw lexer.error('"..." is no language', 'Write "." once for any language.');
  if (lexer.kind !== 'name')
    throw context.unexpected('a language, "." or "*" after "@"', 'Write it as name@en, name@en:fr:. or name@*.');
  let lang = lexer.value;
  let end = lexer.offset;
  lexer.next();
  // es-419: the lexer keeps a dash in a name only before a letter
  while (context.is('-') && lexer.start === end) {
    lexer.next();
    if (!context.is('number') || lexer.start !== end + 1)
      throw context.unexpected('the rest of a language tag after "-"', 'Write it in one piece, such as en-US.');
    lang += `-${lexer.value}`;
    end = lexer.offset;
    lexer.next();
  }
  return lang;
}
