import { GraphsteadError, jsonLoss, STEP, type Steps } from '../base/index.js';
import { parseDateTime } from '../values/index.js';
import type { AppManifest, TypeDefinition, TypeUse } from './contract.js';

type Fields = Readonly<Record<string, unknown>>;

/** Values on their way between GraphQL and app code: times are Dates there, text here. */
export class Converter {
  readonly #types: ReadonlyMap<string, TypeDefinition>;

  constructor(manifest: AppManifest) {
    this.#types = new Map(manifest.types.map((type) => [type.name, type]));
  }

  /** An argument as app code takes it. Throws INVALID_VALUE. */
  toApp(use: TypeUse, value: unknown): unknown {
    if (value === undefined) return use.present === true ? null : undefined;
    if (value === null) return use.null === true ? null : undefined;
    if (use.kind === 'list') return (value as readonly unknown[]).map((item) => this.#item(use, item));
    const definition = this.#types.get(use.name ?? '');
    if (definition?.kind === 'input') {
      const given = value as Fields;
      const fields = definition.fields.filter(({ name, type }) => name in given || type.present === true);
      return Object.fromEntries(fields.map((field) => [field.name, this.toApp(field.type, given[field.name])]));
    }
    if (use.name === 'DateTime') return toDate(value);
    if (use.name === 'Int64') return toInteger(use, value);
    if (!isOneOf(use, value)) {
      throw new GraphsteadError('INVALID_VALUE', `${String(value)} is none of ${use.oneOf?.join(', ')}`, {
        fix: "send a value that the function's type names",
      });
    }
    return value;
  }

  #item(use: TypeUse, item: unknown): unknown {
    return this.toApp(use.of ?? use, item);
  }

  /** A result as GraphQL completes it, in steps where it is long. Throws FUNCTION_FAILED for what its type cannot hold. */
  *fromApp(use: TypeUse, value: unknown): Steps<unknown> {
    const known: Known = new Map();
    try {
      return yield* this.#outer(use, value, 'result', { depth: 0, known });
    } catch (error) {
      throw error instanceof RangeError ? tooDeep() : error;
    }
  }

  /** What is long is a list, or an object that holds lists: an item of them is converted in one piece. */
  *#outer(use: TypeUse, value: unknown, place: string, at: Level): Steps<unknown> {
    if (use.kind === 'list' && Array.isArray(value)) return yield* this.#list(use, value, place, at);
    const definition = this.#types.get(use.name ?? '');
    if (definition?.kind !== 'object' || value === undefined || value === null) {
      return this.#value(use, value, place, at);
    }
    const given = toFields(definition, value);
    const fresh: Record<string, unknown> = {};
    const below = { ...at, depth: at.depth + 1 };
    for (const { name, type } of definition.fields) {
      const own = ownValue(given, name);
      const isList = type.kind === 'list' && Array.isArray(own);
      fresh[name] = isList ? yield* this.#list(type, own, name, below) : this.#value(type, own, name, below);
    }
    return fresh;
  }

  *#list(use: TypeUse, items: readonly unknown[], place: string, at: Level): Steps<unknown> {
    const made: unknown[] = [];
    for (let i = 0; i < items.length; i++) {
      if (i % STEP === STEP - 1) yield;
      made.push(this.#value(use.of ?? use, items[i], place, at));
    }
    return made;
  }

  #value(use: TypeUse, value: unknown, place: string, at: Level): unknown {
    if (value === undefined || value === null) return null;
    if (use.kind === 'list') {
      if (!Array.isArray(value)) throw gave(value, `a list was promised for ${place}`);
      return value.map((item) => this.#value(use.of ?? use, item, place, at));
    }
    const definition = this.#types.get(use.name ?? '');
    if (definition?.kind === 'object' || definition?.kind === 'union') {
      return this.#object(definition, toFields(definition, value), at);
    }
    if (use.name === 'JSON') return jsonValue(value, place);
    if (Array.isArray(value)) throw gave(value, `${use.name} was promised for ${place}`);
    if (!isOneOf(use, value)) {
      throw new GraphsteadError(
        'FUNCTION_FAILED',
        `the function gave ${String(value)} for ${place}, which is none of ${use.oneOf?.join(', ')}`,
        { fix: AS_DECLARED },
      );
    }
    return value instanceof Date ? isoText(value) : value;
  }

  /** Objects may lead to each other, and back: deep down each is converted once, however many ways there are to it. */
  #object(definition: ObjectOrUnion, value: Fields, { depth, known }: Level): Fields {
    const below = { depth: depth + 1, known };
    if (depth < SHALLOW) return this.#fill({}, definition, value, below);
    const made = known.get(definition) ?? new Map<Fields, Fields>();
    known.set(definition, made);
    const before = made.get(value);
    if (before !== undefined) return before;
    const fresh = {};
    made.set(value, fresh);
    return this.#fill(fresh, definition, value, below);
  }

  #fill(fresh: Record<string, unknown>, definition: ObjectOrUnion, value: Fields, below: Level): Fields {
    const type = definition.kind === 'union' ? this.#member(definition, value) : definition;
    if (definition.kind === 'union') fresh['__typename'] = type.name;
    for (const { name, type: use } of type.fields) fresh[name] = this.#value(use, ownValue(value, name), name, below);
    return fresh;
  }

  #member(
    definition: TypeDefinition & { kind: 'union' },
    value: Fields,
  ): TypeDefinition & { kind: 'object' | 'input' } {
    const tag = ownValue(value, definition.discriminant);
    const member = definition.members.find(({ values }) => values.includes(String(tag)));
    const type = this.#types.get(member?.type ?? '');
    if (type?.kind === 'object') return type;
    throw new GraphsteadError(
      'FUNCTION_FAILED',
      `no member of ${definition.name} has ${definition.discriminant} ${tag}`,
      { fix: AS_DECLARED },
    );
  }
}

/** Casts and `any` hide from TypeScript what a function really gives. */
const AS_DECLARED = "return what the function's type declares, or declare what it returns";

type ObjectOrUnion = TypeDefinition & { kind: 'object' | 'input' | 'union' };

/** What was converted already, by its type. */
type Known = Map<TypeDefinition, Map<Fields, Fields>>;

/** How many objects a value is inside of. */
interface Level {
  readonly depth: number;
  readonly known: Known;
}

/** objects within each other that are not looked for among those before: most results have no more */
const SHALLOW = 2;

function tooDeep(): GraphsteadError {
  return new GraphsteadError(
    'FUNCTION_FAILED',
    'the function gave a result that nests deeper than can be worked through',
    {
      fix: 'give the ids of what it leads to, and a function that gets each',
    },
  );
}

function isOneOf({ oneOf }: TypeUse, value: unknown): boolean {
  return oneOf === undefined || oneOf.includes(value as string);
}

/** A field may have the name of what every object has: `constructor`. */
function ownValue(value: Fields, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/** What has no fields would have null for all optional ones. */
function toFields({ name }: TypeDefinition, value: unknown): Fields {
  if (typeof value === 'object' && !WITHOUT_FIELDS.has(tagOf(value))) return value as Fields;
  throw gave(value, `${name} was promised`);
}

const WITHOUT_FIELDS: ReadonlySet<string> = new Set(['Array', 'Map', 'Set', 'Date']);

function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

function gave(value: unknown, promised: string): GraphsteadError {
  const kind = Array.isArray(value) ? 'list' : typeof value === 'object' ? tagOf(value) : typeof value;
  const article = /^[aeiou]/i.test(kind) ? 'an' : 'a';
  return new GraphsteadError('FUNCTION_FAILED', `the function gave ${article} ${kind} where ${promised}`, {
    fix: AS_DECLARED,
  });
}

/** Of the same texts as stored types. Date itself takes the 30th of February for the 1st of March, "1" for a year, and a time without a zone for one of this machine's. */
function toDate(value: unknown): Date {
  if (value instanceof Date) return value;
  const { seconds, nanos } = parseDateTime(String(value));
  return new Date(seconds * 1000 + Math.floor(nanos / 1e6));
}

function toInteger(use: TypeUse, value: unknown): number | bigint {
  const big = BigInt(value as string | number | bigint);
  if (use.bigint === true) return big;
  const number = Number(big);
  if (Number.isSafeInteger(number)) return number;
  throw new GraphsteadError('INVALID_VALUE', `${big} is too large for an Int64 that is a number`, {
    fix: 'declare it as bigint; what a handler of an agent takes, as text',
  });
}

/** What JSON would leave out or change. A Date is its text, as it is in every answer. */
function jsonValue(value: unknown, place: string): unknown {
  const loss = jsonLoss(value, 'told');
  if (loss === undefined) return value;
  const valuePath = `${place}${loss.path}`;
  throw new GraphsteadError('FUNCTION_FAILED', `the function gave what is no JSON: ${valuePath} is ${loss.what}`, {
    fix: loss.fix,
    details: { valuePath },
  });
}

function isoText(date: Date): string {
  if (!Number.isNaN(date.getTime())) return date.toISOString();
  throw new GraphsteadError('FUNCTION_FAILED', 'the function gave an invalid Date', {
    fix: 'give one that is a time: new Date(text) is none where it cannot read the text',
  });
}
