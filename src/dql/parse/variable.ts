import { GraphsteadError, type Position } from '../../base/index.js';
import { invalid } from './invalid.js';
import { wholeNumber } from './number.js';

export type VariableType = 'int' | 'float' | 'bool' | 'string' | 'float32vector';

/** A `$variable` put in its place: its text, and its type where the query declares one. */
export interface VariableValue {
  readonly text: string;
  readonly type: VariableType | undefined;
}

/** What a query's head says of a variable. */
interface Declared {
  readonly type: VariableType;
  readonly required: boolean;
  /** text of its default */
  readonly fallback: string | undefined;
}

/** What a variable stands for at a place of the text. */
export type VariableUse = 'text' | 'uid' | 'number' | 'truth' | 'regexp';

/** A text that fits each place, where the value is not known yet. */
const STAND_IN: Readonly<Record<VariableUse, string>> = {
  text: '',
  uid: '0x1',
  number: '1',
  truth: 'true',
  regexp: '/a/',
};

/**
 * The `$variables` of one query text, which declares them with types in its head: `query name($a: int = 2)`.
 */
export class QueryVariables {
  readonly #given: ReadonlyMap<string, string>;
  readonly #declared = new Map<string, { type: VariableType; value: string | undefined }>();
  readonly #later: ReadonlySet<string>;
  #typed = false;

  /** @param later variables that get their values when the text is used: until then anything that fits stands for them */
  constructor(given: Readonly<Record<string, string>> = {}, later: readonly string[] = []) {
    this.#given = new Map(Object.entries(given).map(([name, value]) => [written(name), String(value)]));
    this.#later = new Set(later.map(written));
  }

  /** Throws INVALID_QUERY where it is declared already. */
  assertNew(name: string, position: Position): void {
    if (this.#declared.has(name)) {
      throw invalid(`the variable ${name} is declared twice`, position, 'Remove one of them.');
    }
  }

  /** Throws INVALID_QUERY where the request brings no value for what is required, or one of another type. */
  declare(name: string, { type, required, fallback }: Declared, position: Position): void {
    const value = this.#given.get(name) ?? fallback;
    if (required && value === undefined && !this.#later.has(name)) {
      throw invalid(
        `the variable ${name} is required but the request brings no value`,
        position,
        `Send a value for ${name}.`,
      );
    }
    if (value !== undefined) checkType(name, type, value, position);
    this.#declared.set(name, { type, value });
  }

  /** After a query's head: every value that comes with the request must be declared by now. */
  close(position: Position): void {
    this.#typed = true;
    for (const name of [...this.#given.keys(), ...this.#later]) {
      if (this.#declared.has(name)) continue;
      throw invalid(
        `the request brings a value for ${name}, which the query does not declare`,
        position,
        `Declare it, as in: query name(${name}: string) { ... }.`,
      );
    }
  }

  /**
   * What stands for a variable at a place. Throws INVALID_QUERY when it is not declared.
   * @param undeclared in a text without a head a value of the request will do, as for the arguments of @recurse
   */
  take(name: string, position: Position, use: VariableUse, undeclared: boolean): VariableValue {
    const declared = this.#declared.get(name);
    const later = this.#later.has(name) ? STAND_IN[use] : undefined;
    if (declared) return { text: later ?? declared.value ?? '', type: declared.type };
    const given = undeclared && !this.#typed ? (later ?? this.#given.get(name)) : undefined;
    if (given !== undefined) return { text: given, type: undefined };
    throw invalid(
      `the variable ${name} is not defined`,
      position,
      `Declare it, as in: query name(${name}: string) { ... }, and send its value.`,
    );
  }
}

const written = (name: string): string => (name.startsWith('$') ? name : `$${name}`);

function checkType(name: string, type: VariableType, value: string, position: Position): void {
  const good =
    type === 'string' || type === 'float32vector'
      ? true
      : type === 'bool'
        ? value === 'true' || value === 'false'
        : type === 'int'
          ? isInt(value)
          : value.trim() !== '' && Number.isFinite(Number(value));
  if (good) return;
  const article = type === 'int' ? 'an' : 'a';
  throw new GraphsteadError(
    'INVALID_QUERY',
    `the variable ${name} is ${article} ${type}, and ${JSON.stringify(value.slice(0, 60))} is none`,
    {
      position,
      fix: `Send ${article} ${type}, or declare ${name} with another type.`,
    },
  );
}

function isInt(text: string): boolean {
  if (wholeNumber(text) !== undefined) return true;
  try {
    return /^[+-]?\d{1,20}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
  } catch {
    return false;
  }
}
