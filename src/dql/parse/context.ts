import { GraphsteadError, type Limits, type Names, type Position } from '../../base/index.js';
import { invalid } from './invalid.js';
import type { Lexer, TokenKind } from './lexer.js';
import type { QueryVariables, VariableUse, VariableValue } from './variable.js';

/** What every part of the query parser shares: the tokens, the names, the variables and the bounds. */
export class ParseContext {
  /** operators in the math(...) that is being read */
  operators = 0;
  #depth = 0;
  #refused: GraphsteadError | undefined;

  constructor(
    readonly lexer: Lexer,
    readonly names: Names,
    readonly limits: Limits,
    readonly variables: QueryVariables,
  ) {}

  get kind(): TokenKind {
    return this.lexer.kind;
  }

  get value(): string {
    return this.lexer.value;
  }

  get position(): Position {
    return this.lexer.position;
  }

  /** The text is well-formed but asks for what does not exist; told when the whole text has been read. First one wins. */
  refuse(message: string, position: Position, fix: string): void {
    this.#refused ??= invalid(message, position, fix);
  }

  get refused(): GraphsteadError | undefined {
    return this.#refused;
  }

  is(kind: TokenKind): boolean {
    return this.lexer.kind === kind;
  }

  /** A name token with this text in any case. */
  isWord(word: string): boolean {
    const { lexer } = this;
    return lexer.kind === 'name' && lexer.value.length === word.length && lexer.value.toLowerCase() === word;
  }

  /** Takes the token when it is of this kind. */
  accept(kind: TokenKind): boolean {
    if (this.lexer.kind !== kind) return false;
    this.lexer.next();
    return true;
  }

  expect(kind: TokenKind, where: string, fix = `Write "${kind}" there.`): void {
    if (this.lexer.kind !== kind) throw this.unexpected(`"${kind}" ${where}`, fix);
    this.lexer.next();
  }

  /** What stands between brackets, with a comma between two of it; the closing bracket stays the current token. */
  list(closing: TokenKind, what: string, parse: () => void): void {
    while (!this.is(closing)) {
      parse();
      if (!this.accept(',')) return;
      if (this.is(closing)) throw this.unexpected(`another ${what} after ","`, 'Remove the comma.');
    }
  }

  /** What stands between one word and the next; alone it is what it is, without a node around it. */
  joined<T, Word extends 'and' | 'or'>(kind: Word, parse: () => T): T | { kind: Word; children: T[] } {
    const children = [parse()];
    while (this.isWord(kind)) {
      this.lexer.next();
      children.push(parse());
    }
    return children.length === 1 ? children[0] : { kind, children };
  }

  unexpected(expected: string, fix: string): GraphsteadError {
    return this.lexer.error(`expected ${expected}, found ${this.lexer.shown()}`, fix);
  }

  /** A plain or bracketed name; where it stands is the caller's to say. */
  takeName(what: string): string {
    const { lexer } = this;
    if (lexer.kind !== 'name' && lexer.kind !== 'iri') {
      throw this.unexpected(what, 'Write a name there; one with other characters stands in < and >.');
    }
    const name = lexer.value;
    if (name.length > 65_535) {
      throw invalid(
        `a name of ${name.length} characters is too long: at most 65535`,
        lexer.position,
        'Use a shorter name.',
      );
    }
    lexer.next();
    return name;
  }

  /** What stands for the current token, a variable; see QueryVariables.take. */
  takeVariable(use: VariableUse, undeclared = false): VariableValue {
    const { value, position } = this.lexer;
    this.lexer.next();
    return this.variables.take(value, position, use, undeclared);
  }

  /** Runs `parse` one level deeper. Throws LIMIT_EXCEEDED past limits.nestingDepth. */
  nested<T>(parse: () => T): T {
    if (++this.#depth > this.limits.nestingDepth) {
      throw new GraphsteadError(
        'LIMIT_EXCEEDED',
        `nested deeper than ${this.limits.nestingDepth} (limit nestingDepth)`,
        {
          position: this.position,
          fix: 'Flatten it, or raise limits.nestingDepth.',
        },
      );
    }
    try {
      return parse();
    } finally {
      this.#depth--;
    }
  }
}
