import { invalidValue } from '../failure.js';
import {
  ANY,
  DIGIT,
  folded,
  merged,
  NOT_NEWLINE,
  negated,
  POSIX,
  type Ranges,
  SPACE,
  unicodeClass,
  WORD,
} from './char-class.js';
import type { Flags, PatternNode } from './syntax.js';

const DEEPEST = 200;
const LONGEST = 10_000;
const MOST_REPEATS = 1_000;
const EMPTY: PatternNode = { kind: 'empty' };
const CONTROL: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };
/** Under their small letters; the capital ones stand for what is in none of them. */
const PERL: Readonly<Record<string, Ranges>> = { d: DIGIT, w: WORD, s: SPACE };
const ASSERTIONS = { A: 'textStart', z: 'textEnd', b: 'wordBoundary', B: 'noWordBoundary' } as const;

/** A pattern in the syntax of RE2. Throws INVALID_VALUE, also for what cannot be matched in linear time. */
export function parsePattern(source: string, flags: Flags): PatternNode {
  if (source.length > LONGEST) {
    throw invalidValue(`a pattern of more than ${LONGEST} characters`, 'Look for several shorter ones, joined by OR.');
  }
  const parser = new Parser(source, flags);
  return parser.whole();
}

class Parser {
  readonly #characters: readonly string[];
  readonly #source: string;
  #flags: Flags;
  #at = 0;
  #depth = 0;

  constructor(source: string, flags: Flags) {
    this.#source = source;
    this.#characters = [...source];
    this.#flags = flags;
  }

  whole(): PatternNode {
    const node = this.#alternatives();
    if (this.#at < this.#characters.length)
      throw this.#wrong('a ")" that closes nothing', 'Remove it, or write a bracket itself as \\).');
    return node;
  }

  get #next(): string | undefined {
    return this.#characters[this.#at];
  }

  #take(text: string): boolean {
    const found = this.#ahead(text);
    if (found) this.#at += text.length;
    return found;
  }

  #ahead(text: string): boolean {
    for (let i = 0; i < text.length; i++) if (this.#characters[this.#at + i] !== text[i]) return false;
    return true;
  }

  #wrong(what: string, fix: string): Error {
    return invalidValue(`invalid pattern /${this.#source.slice(0, 80)}/: ${what} at character ${this.#at + 1}`, fix);
  }

  #alternatives(): PatternNode {
    if (++this.#depth > DEEPEST) throw this.#wrong(`groups nested more than ${DEEPEST} deep`, 'Nest fewer groups.');
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    this.#depth--;
    return parts.length === 1 ? parts[0] : { kind: 'alternate', parts };
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = [];
    while (this.#next !== undefined && this.#next !== '|' && this.#next !== ')') parts.push(this.#repeated());
    return parts.length === 1 ? parts[0] : parts.length === 0 ? EMPTY : { kind: 'concat', parts };
  }

  #repeated(): PatternNode {
    let node = this.#atom();
    for (let times = 0; ; times++) {
      const bounds = this.#bounds();
      if (!bounds) return node;
      if (times > 0) throw this.#wrong('a repetition of a repetition', 'Put the inner one into a group: (?:a+)*.');
      this.#take('?');
      node = { kind: 'repeat', node, min: bounds[0], max: bounds[1] };
    }
  }

  #bounds(): readonly [number, number] | undefined {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.#take('?')) return [0, 1];
    const counted = /^\{(\d{1,6})(?:(,)(\d{0,6}))?\}/.exec(this.#characters.slice(this.#at, this.#at + 16).join(''));
    if (!counted) return undefined;
    const min = Number(counted[1]);
    const max = !counted[2] ? min : counted[3] ? Number(counted[3]) : Number.POSITIVE_INFINITY;
    if (min > MOST_REPEATS || (max !== Number.POSITIVE_INFINITY && max > MOST_REPEATS) || min > max) {
      throw this.#wrong(`a repetition ${counted[0]} out of bounds`, `Repeat at most ${MOST_REPEATS} times.`);
    }
    this.#at += counted[0].length;
    return [min, max];
  }

  #atom(): PatternNode {
    const c = this.#next as string;
    if (c === '*' || c === '+' || c === '?')
      throw this.#wrong(
        `a "${c}" that repeats nothing`,
        `Put before it what repeats, or write the character itself as \\${c}.`,
      );
    if (c === '\\') return this.#escape();
    this.#at++;
    if (c === '(') return this.#group();
    if (c === '[') return this.#set(this.#bracket());
    if (c === '.') return { kind: 'set', ranges: this.#flags.dotAll ? ANY : NOT_NEWLINE };
    if (c === '^') return { kind: 'assert', at: this.#flags.multiLine ? 'lineStart' : 'textStart' };
    if (c === '$') return { kind: 'assert', at: this.#flags.multiLine ? 'lineEnd' : 'textEnd' };
    return this.#literal(c.codePointAt(0) as number);
  }

  #literal(point: number): PatternNode {
    return this.#set([point, point]);
  }

  #set(ranges: Ranges): PatternNode {
    return { kind: 'set', ranges: this.#inCase(ranges) };
  }

  #inCase(ranges: Ranges): Ranges {
    return this.#flags.ignoreCase ? folded(ranges) : ranges;
  }

  /** What is in no case one of the set: other cases of what is left would bring some of the set back. */
  #negated(ranges: Ranges): Ranges {
    return negated(this.#inCase(ranges));
  }

  #group(): PatternNode {
    const outer = this.#flags;
    if (this.#take('?')) {
      const scoped = this.#groupHead();
      if (scoped) return EMPTY;
    }
    const node = this.#alternatives();
    if (!this.#take(')'))
      throw this.#wrong('a group that is not closed', 'Close it with ")", or write a bracket itself as \\(.');
    this.#flags = outer;
    return node;
  }

  /** What follows `(?`. True for `(?flags)`, which is over and holds for the rest of the group around it. */
  #groupHead(): boolean {
    const rest = this.#characters.slice(this.#at, this.#at + 120).join('');
    const named = /^(?:P?<([A-Za-z_]\w*)>|:)/.exec(rest);
    if (named) {
      this.#at += named[0].length;
      return false;
    }
    const flags = /^([imsU]*)(?:-([imsU]+))?([:)])/.exec(rest);
    if (!flags) {
      throw this.#wrong('a kind of group that is not supported', 'Lookaround and back references are not supported.');
    }
    this.#at += flags[0].length;
    this.#flags = withFlags(withFlags(this.#flags, flags[1], true), flags[2] ?? '', false);
    return flags[3] === ')';
  }

  #escape(): PatternNode {
    this.#at++;
    const c = this.#next;
    if (c === undefined) throw this.#wrong('a backslash at the end', 'Write a backslash itself as two.');
    if (c === 'Q') return this.#quoted();
    if (Object.hasOwn(ASSERTIONS, c)) {
      this.#at++;
      return { kind: 'assert', at: ASSERTIONS[c as keyof typeof ASSERTIONS] };
    }
    return this.#set(this.#escapedClass() ?? this.#escapedPoint());
  }

  #quoted(): PatternNode {
    this.#at++;
    const parts: PatternNode[] = [];
    while (this.#next !== undefined && !this.#take('\\E')) {
      parts.push(this.#literal((this.#next as string).codePointAt(0) as number));
      this.#at++;
    }
    return { kind: 'concat', parts };
  }

  /** `\d`, `\pL`, `\p{Greek}` and the like, after their backslash. */
  #escapedClass(): Ranges | undefined {
    const c = this.#next as string;
    const small = c.toLowerCase();
    if (Object.hasOwn(PERL, small)) {
      this.#at++;
      return c === small ? PERL[small] : this.#negated(PERL[small]);
    }
    if (c !== 'p' && c !== 'P') return undefined;
    this.#at++;
    const rest = this.#characters.slice(this.#at, this.#at + 50).join('');
    const name = /^(?:\{(\^?)([A-Za-z_]+)\}|([A-Z]))/.exec(rest);
    const ranges = name && unicodeClass(name[2] ?? name[3]);
    if (!name || !ranges) throw this.#wrong('a Unicode class that is not known', 'Write it as \\pL or \\p{Greek}.');
    this.#at += name[0].length;
    return (c === 'P') !== (name[1] === '^') ? this.#negated(ranges) : ranges;
  }

  #escapedPoint(): Ranges {
    const rest = this.#characters.slice(this.#at, this.#at + 12).join('');
    const code = /^(?:x\{([0-9A-Fa-f]{1,8})\}|x([0-9A-Fa-f]{2})|(0[0-7]{0,2}|[1-7][0-7]{2}))/.exec(rest);
    if (code) {
      this.#at += code[0].length;
      const point = code[3] ? Number.parseInt(code[3], 8) : Number.parseInt(code[1] ?? code[2], 16);
      if (point > ANY[1]) throw this.#wrong('a character beyond Unicode', 'The last one is \\x{10FFFF}.');
      return [point, point];
    }
    const c = rest[0];
    if (c === undefined) throw this.#wrong('a backslash at the end', 'Write a backslash itself as two.');
    if (/[A-Za-z0-9]/.test(c) && !Object.hasOwn(CONTROL, c)) {
      throw this.#wrong(
        `an escape \\${c} that is not supported`,
        'Use the syntax of RE2; a backslash itself is written as two.',
      );
    }
    const point = CONTROL[c] ?? ((this.#next as string).codePointAt(0) as number);
    this.#at++;
    return [point, point];
  }

  /** After the `[`. */
  #bracket(): Ranges {
    const negate = this.#take('^');
    const found: number[] = [];
    for (let first = true; first || !this.#take(']'); first = false) {
      if (this.#next === undefined)
        throw this.#wrong('a "[" that is not closed', 'Close it with "]", or write a bracket itself as \\[.');
      found.push(...(this.#posixClass() ?? this.#bracketItem()));
    }
    const ranges = merged(found);
    return negate ? this.#negated(ranges) : ranges;
  }

  #posixClass(): Ranges | undefined {
    if (!this.#ahead('[:')) return undefined;
    const named = /^\[:(\^?)(\w+):\]/.exec(this.#characters.slice(this.#at, this.#at + 20).join(''));
    if (!named) return undefined;
    const ranges = Object.hasOwn(POSIX, named[2]) ? POSIX[named[2]] : undefined;
    if (!ranges) throw this.#wrong(`a class ${named[0]} that is not known`, 'Write one such as [[:alpha:]].');
    this.#at += named[0].length;
    return named[1] ? this.#negated(ranges) : ranges;
  }

  #bracketItem(): Ranges {
    const low = this.#bracketEnd();
    const isRange =
      this.#next === '-' && this.#characters[this.#at + 1] !== ']' && this.#at + 1 < this.#characters.length;
    if (!isRange || low.length !== 2 || low[0] !== low[1]) return low;
    this.#at++;
    const high = this.#bracketEnd();
    if (high.length !== 2 || high[0] !== high[1] || high[0] < low[0])
      throw this.#wrong('a range that goes nowhere', 'Write the smaller character first, and a hyphen itself as \\-.');
    return [low[0], high[0]];
  }

  #bracketEnd(): Ranges {
    if (this.#take('\\')) {
      if (this.#next === undefined) throw this.#wrong('a backslash at the end', 'Write a backslash itself as two.');
      return this.#escapedClass() ?? this.#escapedPoint();
    }
    const point = (this.#next as string).codePointAt(0) as number;
    this.#at++;
    return [point, point];
  }
}

function withFlags(flags: Flags, letters: string, on: boolean): Flags {
  return {
    ignoreCase: letters.includes('i') ? on : flags.ignoreCase,
    multiLine: letters.includes('m') ? on : flags.multiLine,
    dotAll: letters.includes('s') ? on : flags.dotAll,
  };
}
