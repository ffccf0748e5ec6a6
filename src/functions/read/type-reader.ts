import ts from 'typescript';
import type { Position } from '../../base/index.js';
import type { FieldDescription, ScalarName, TypeDefinition, TypeUse } from '../contract.js';
import { discriminantOf, enumValues, enumName } from './union.js';
import { HELPER_FIX, type Refusals } from './refuse.js';

/** Where a type is used: names of anonymous types and the place of refusals come from here. */
interface Place {
  readonly node: ts.Node;
  readonly direction: 'input' | 'output';
  /** name for an anonymous type used here, in PascalCase */
  readonly hint: string;
  /** lists that this place stands in, without an object between them */
  readonly lists?: number;
}

const NAME = /^[_A-Za-z][_0-9A-Za-z]*$/;
export const NAME_FIX = 'use letters, digits and single underscores';
const RESERVED = new Set([
  'Query',
  'Mutation',
  'Subscription',
  'String',
  'Float',
  'Int',
  'Int64',
  'ID',
  'Boolean',
  'DateTime',
  'JSON',
]);
/** type arguments inside type arguments: `A<A<T>>` as a field of `A<T>` comes to any number of them */
const MOST_NESTED = 10;
/** lists inside lists: `type Rows = Rows[]` comes to any number of them */
const MOST_LISTS = 10;
const PRIMITIVE =
  ts.TypeFlags.StringLike | ts.TypeFlags.NumberLike | ts.TypeFlags.BooleanLike | ts.TypeFlags.BigIntLike;
const INT = 'Int of "graphstead/app"';
const INT64 = 'Int64 of "graphstead/app"';
/** Types of AssemblyScript, which functions that come from Modus are full of, and of GraphQL, and what is written for them here. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ...['i8', 'i16', 'i32', 'u8', 'u16'].map((name) => [name, INT] as const),
  ...['u32', 'i64', 'u64', 'isize', 'usize'].map((name) => [name, INT64] as const),
  ['f32', 'number'],
  ['f64', 'number'],
  ['bool', 'boolean'],
  ['Float', 'number'],
]);
/** Types of "graphstead/app", as they stand where nobody has imported them. */
const OF_APP: ReadonlySet<string> = new Set(['Int', 'Int64', 'ID', 'Json']);
const ENUM_FIX = "give each member a text (Low = 'Low'), or use a union of texts";
const LIBRARY_FIX = 'use arrays and plain objects, or Json from "graphstead/app" for any JSON value';
const OPEN_FIX = 'give a concrete type, or declare the class abstract where others extend it';
const JSON_FIX = 'name the fields in an interface, or use Json from "graphstead/app" for any JSON value';

/** What to do about a type that is any, or that nobody can tell. */
function fixOfUnknown(text: string): string {
  const known = ELSEWHERE.get(text);
  if (known !== undefined) return `write ${known}`;
  if (OF_APP.has(text)) return `import it: import type { ${text} } from "graphstead/app"`;
  return text === 'any' || text === 'unknown' ? JSON_FIX : `import it or declare it; ${JSON_FIX}`;
}

/** Turns TypeScript's types into GraphQL's, and remembers the named ones. */
export class TypeReader {
  readonly #definitions = new Map<string, TypeDefinition>();
  /** GraphQL name -> the TypeScript type it was made of */
  readonly #origins = new Map<string, ts.Type>();
  readonly #placeNames = { input: new Map<ts.Type, string>(), output: new Map<ts.Type, string>() };
  /** GraphQL name -> where that type is first used */
  readonly #positions = new Map<string, Position>();
  /** fields that no value of their input type can leave out, with the input type that they hold */
  readonly #required: { readonly owner: string; readonly to: string; readonly node: ts.Node }[] = [];

  constructor(
    readonly checker: ts.TypeChecker,
    readonly refusals: Refusals,
  ) {}

  get definitions(): readonly TypeDefinition[] {
    return [...this.#definitions.values()]
      .map((definition) => ({ ...definition, position: this.#positions.get(definition.name) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The GraphQL type; a refused one reads as String, and the refusal is noted. */
  read(type: ts.Type, place: Place, optional = false): TypeUse {
    const parts = type.isUnion() ? type.types : [type];
    const hasNull = parts.some((part) => (part.flags & ts.TypeFlags.Null) !== 0);
    const absent = parts.some((part) => (part.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void)) !== 0);
    const rest = parts.filter(
      (part) => (part.flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined | ts.TypeFlags.Void)) === 0,
    );
    const mayLack = optional || absent;
    const nullness = { null: true, ...(mayLack ? {} : { present: true }) };
    const flags = { nullable: mayLack || hasNull, ...(hasNull ? nullness : {}) };
    if (rest.length === 0)
      return this.#refused(place, 'a value that is always null or undefined', 'leave it out', flags);
    const scalar = this.#scalarOf(rest);
    if (scalar !== undefined)
      return {
        kind: 'named',
        name: scalar,
        ...flags,
        ...(isBigInt(rest) ? { bigint: true } : {}),
        ...this.#oneOf(rest),
      };
    if (rest.length === 1) return { ...this.#single(rest[0], place), ...flags };
    // Without null and undefined the union is the one its alias names.
    return { ...this.#union(this.checker.getNonNullableType(type), rest, place), ...flags };
  }

  /** An input type that requires itself has no value that ends, and GraphQL refuses it. Each circle is told once. */
  refuseCircles(): void {
    const kept: { owner: string; to: string }[] = [];
    for (const { owner, to, node } of this.#required) {
      if (to === owner || reached(to, kept).has(owner)) {
        const fix = 'make the field optional, or a list';
        this.refusals.add(node, `"${owner}" as an argument requires itself, without end`, fix);
      } else kept.push({ owner, to });
    }
  }

  #scalarOf(types: readonly ts.Type[]): ScalarName | undefined {
    const mark = types.map((type) => this.#markOf(type)).find((one) => one !== undefined);
    // beside what the marked type is itself: `Int | string` is more than Int
    if (mark !== undefined) return types.every((type) => this.#isWithin(mark, type)) ? mark : undefined;
    const plain = types.map(withoutBrand);
    if (plain.every((type) => (type.flags & ts.TypeFlags.BooleanLike) !== 0)) return 'Boolean';
    if (
      plain.every((type) => (type.flags & ts.TypeFlags.NumberLike) !== 0 && (type.flags & ts.TypeFlags.EnumLike) === 0)
    ) {
      return 'Float';
    }
    if (isText(plain)) return 'String';
    if (plain.length > 1) return undefined;
    if (plain[0].flags & ts.TypeFlags.BigIntLike) return 'Int64';
    return this.#isLibrary(plain[0], 'Date') ? 'DateTime' : undefined;
  }

  /** `1 | 2 | 3`, `true`: GraphQL has no type for it, so that values are looked at. */
  #oneOf(types: readonly ts.Type[]): Pick<TypeUse, 'oneOf'> {
    const values = types.map(withoutBrand).map((type) => {
      if (type.isNumberLiteral()) return type.value;
      return type.flags & ts.TypeFlags.BooleanLiteral ? this.checker.typeToString(type) === 'true' : undefined;
    });
    const known = values.filter((value) => value !== undefined);
    const isAny = known.length < values.length || (known.includes(true) && known.includes(false));
    return isAny ? {} : { oneOf: known };
  }

  #isWithin(mark: ScalarName, type: ts.Type): boolean {
    if (mark === 'JSON' || this.#markOf(type) === mark) return true;
    if (mark === 'ID') return (type.flags & ts.TypeFlags.StringLike) !== 0;
    const whole = mark === 'Int64' ? ts.TypeFlags.NumberLike | ts.TypeFlags.BigIntLike : ts.TypeFlags.NumberLike;
    return (type.flags & whole) !== 0;
  }

  /** The mark of Int, Int64, ID and Json. */
  #markOf(type: ts.Type): ScalarName | undefined {
    const mark = this.checker.getPropertyOfType(type, '__graphstead');
    if (mark === undefined || (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) === 0) return undefined;
    const value = this.checker.getTypeOfSymbol(mark);
    return value.isStringLiteral() ? (value.value as ScalarName) : undefined;
  }

  #single(type: ts.Type, place: Place): Omit<TypeUse, 'nullable'> {
    if (type.isStringLiteral()) return { kind: 'named', name: 'String', oneOf: [type.value] };
    if (this.checker.isArrayType(type)) return this.#list(type as ts.TypeReference, place);
    if (this.checker.isTupleType(type))
      return this.#refused(place, 'a tuple', 'use an array or an object with named fields');
    if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) {
      const text = this.#text(type);
      const what = `the type ${text} (written so, or a type that could not be resolved)`;
      return this.#refused(place, what, fixOfUnknown(text));
    }
    if (type.flags & ts.TypeFlags.TypeParameter) return this.#refused(place, 'an open type parameter', OPEN_FIX);
    if (type.flags & ts.TypeFlags.EnumLike)
      return this.#refused(place, `${this.#text(type)}, an enum with numbers`, ENUM_FIX);
    if ((type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) === 0) {
      return this.#refused(place, `the type ${this.#text(type)}`, JSON_FIX);
    }
    return this.#object(type, place);
  }

  #list(type: ts.TypeReference, place: Place): Omit<TypeUse, 'nullable'> {
    const { hint, lists = 0 } = place;
    if (lists === MOST_LISTS) {
      const fix = 'let an object stand between: interface Row { rows: Row[] }';
      return this.#refused(place, 'a list of lists without end', fix);
    }
    const [element] = this.checker.getTypeArguments(type);
    return { kind: 'list', of: this.read(element, { ...place, hint: singular(hint), lists: lists + 1 }) };
  }

  #object(type: ts.Type, place: Place): Omit<TypeUse, 'nullable'> {
    if (type.getCallSignatures().length > 0)
      return this.#refused(place, 'a function', `pass data, not code; ${HELPER_FIX}`);
    if (this.#isLibrary(type)) return this.#refused(place, `the type ${this.#text(type)}`, LIBRARY_FIX);
    const properties = this.checker.getPropertiesOfType(type).filter((property) => isField(property, place));
    if (this.checker.getIndexInfosOfType(type).length > 0) {
      return this.#refused(place, 'an object with arbitrary keys', JSON_FIX);
    }
    if (properties.length === 0) return this.#refused(place, 'an object without fields', JSON_FIX);
    if (this.#isNested(type, MOST_NESTED)) return this.#endless(type, place);
    const name = this.#nameOf(type, place);
    const kind = place.direction === 'input' ? 'input' : 'object';
    const standing = this.#definitions.get(name)?.kind;
    if (this.#origins.get(name) === type && standing !== kind) {
      const fix = `take "Input" off its name: arguments get it by themselves`;
      return this.#refused(place, `"${name}" as an argument and as a result`, fix);
    }
    if (!this.#claim(name, type, place)) return { kind: 'named', name };
    const description = this.#describe(type.aliasSymbol ?? type.symbol);
    this.#definitions.set(name, { kind, name, fields: [] }); // a recursive type finds itself
    const fields = properties.map((property) => this.#field(property, name, place));
    this.#definitions.set(name, { kind, name, ...description, fields });
    return { kind: 'named', name };
  }

  #field(property: ts.Symbol, owner: string, place: Place): FieldDescription {
    const node = property.valueDeclaration ?? property.declarations?.[0] ?? place.node;
    const inApp = node.getSourceFile().fileName.includes('/node_modules/') ? place.node : node;
    const { name } = property;
    if (!isName(name)) this.refusals.add(inApp, `"${name}" is no GraphQL field name`, NAME_FIX);
    if (ts.isGetAccessorDeclaration(node) && ts.isClassLike(node.parent)) {
      const fix = 'set a field in the constructor, or give a plain object';
      this.refusals.add(inApp, `"${name}" is a getter of a class, whose value stays in the app's process`, fix);
    }
    const optional = (property.flags & ts.SymbolFlags.Optional) !== 0;
    const hint = `${owner.replace(/Input$/, '')}${pascal(name)}`;
    const type = this.read(
      this.checker.getTypeOfSymbolAtLocation(property, place.node),
      { ...place, node: inApp, hint, lists: 0 },
      optional,
    );
    if (place.direction === 'input' && type.kind === 'named' && !type.nullable) {
      this.#required.push({ owner, to: type.name ?? '', node: inApp });
    }
    return { name, type, ...this.#describe(property) };
  }

  #union(whole: ts.Type, types: readonly ts.Type[], place: Place): Omit<TypeUse, 'nullable'> {
    const values = enumValues(types);
    if (values !== undefined) return this.#enum(whole, types, values, place);
    if (!types.every((type) => (type.flags & ts.TypeFlags.Object) !== 0)) {
      if (types.every((type) => (type.flags & ts.TypeFlags.EnumLike) !== 0)) {
        return this.#refused(place, `${this.#text(whole)}, an enum with numbers`, ENUM_FIX);
      }
      return this.#refused(
        place,
        `the union ${this.#text(whole)}`,
        'GraphQL has unions of objects and of strings only',
      );
    }
    if (place.direction === 'input') {
      return this.#refused(place, 'a union of objects as an argument', 'use one object with optional fields');
    }
    const tag = discriminantOf(this.checker, types, place.node);
    if (tag === undefined) {
      return this.#refused(place, `the union ${this.#text(whole)}`, "give each member a literal field: kind: 'circle'");
    }
    if (this.#isNested(whole, MOST_NESTED)) return this.#endless(whole, place);
    const name = this.#unionName(whole, place);
    if (this.#claim(name, whole, place)) {
      const members = types.map((type, i) => {
        const use = this.#object(type, { ...place, hint: `${name}${pascal(tag.values[i][0])}` });
        return { type: use.name ?? '', values: tag.values[i] };
      });
      this.#definitions.set(name, {
        kind: 'union',
        name,
        ...this.#describe(whole.aliasSymbol),
        discriminant: tag.name,
        members,
      });
    }
    return { kind: 'named', name };
  }

  #enum(whole: ts.Type, types: readonly ts.Type[], values: readonly string[], place: Place): Omit<TypeUse, 'nullable'> {
    const name = this.#unionName(whole, { ...place, hint: enumName(types) ?? place.hint });
    const members = values.map((value) => ({ name: value, value }));
    const wrong = values.find(
      (value) => !NAME.test(value) || value.startsWith('__') || /^(true|false|null)$/.test(value),
    );
    if (wrong !== undefined) {
      const fix = 'use letters, digits and underscores, or a plain string';
      return this.#refused(place, `"${wrong}" as a value of an enum`, fix);
    }
    const known = this.#definitions.get(name);
    if (known?.kind === 'enum' && known.values.map((one) => one.value).join() === values.join())
      return { kind: 'named', name };
    if (this.#claim(name, whole, place)) {
      this.#definitions.set(name, { kind: 'enum', name, ...this.#describe(whole.aliasSymbol), values: members });
    }
    return { kind: 'named', name };
  }

  /** False when the name stands already; another type under it is refused. */
  #claim(name: string, type: ts.Type, place: Place): boolean {
    const known = this.#origins.get(name);
    if (known === type) return false;
    if (!isName(name)) {
      this.refusals.add(place.node, `"${name}" is no GraphQL name`, NAME_FIX);
      return false;
    }
    if (known !== undefined || RESERVED.has(name)) {
      const why = known === undefined ? 'is reserved' : 'names two different types';
      this.refusals.add(place.node, `"${name}" ${why}`, 'rename the interface or type alias');
      return false;
    }
    this.#origins.set(name, type);
    this.#positions.set(name, this.refusals.placeOf(place.node));
    return true;
  }

  #nameOf(type: ts.Type, place: Place): string {
    const named = this.#ownName(type) ?? this.#placeName(type, place);
    return place.direction === 'input' && !named.endsWith('Input') ? `${named}Input` : named;
  }

  /** An alias without type arguments as it is written; `Result<User>` becomes UserResult, and what TypeScript's own aliases make has no name. */
  #unionName(whole: ts.Type, place: Place): string {
    const { aliasSymbol: alias } = whole;
    if (alias === undefined || isOfLibrary(alias)) return place.hint;
    if (this.#given(whole).length === 0) return alias.name;
    return this.#ownName(whole) ?? this.#placeName(whole, place);
  }

  /** The name of where it stands; a generic type has that of its first place everywhere, as it may hold itself. */
  #placeName(type: ts.Type, { hint, direction }: Place): string {
    if (this.#given(type).length === 0) return hint;
    const known = this.#placeNames[direction];
    const name = known.get(type) ?? hint;
    known.set(type, name);
    return name;
  }

  /** `Page<User>` becomes UserPage; undefined for a type without a name, and for `Page<{ id: string }>` and `Pick<User, 'id'>`, which hold one. */
  #ownName(type: ts.Type): string | undefined {
    const symbol = type.aliasSymbol ?? type.symbol;
    if (symbol === undefined || symbol.name.startsWith('__')) return undefined;
    const given = this.#given(type).map((one) => this.#argumentName(one));
    return given.includes(undefined) ? undefined : `${given.join('')}${pascal(symbol.name)}`;
  }

  #endless(type: ts.Type, place: Place): TypeUse {
    const fix = 'let it hold itself with the type arguments that it was given, or name what it holds in an interface';
    return this.#refused(place, `a generic type that grows without end: ${this.#text(type)}`, fix);
  }

  #isNested(type: ts.Type, levels: number): boolean {
    return levels === 0 || this.#given(type).some((one) => this.#isNested(one, levels - 1));
  }

  /** The type arguments that a type was written with. */
  #given(type: ts.Type): readonly ts.Type[] {
    return type.aliasSymbol ? (type.aliasTypeArguments ?? []) : this.#typeArguments(type);
  }

  #typeArguments(type: ts.Type): readonly ts.Type[] {
    const isReference = ((type as ts.ObjectType).objectFlags & ts.ObjectFlags.Reference) !== 0;
    if (!isReference) return [];
    const { length = 0 } = (type as ts.TypeReference).target.typeParameters ?? [];
    return this.checker.getTypeArguments(type as ts.TypeReference).slice(0, length);
  }

  #argumentName(type: ts.Type): string | undefined {
    const name = this.#scalarOf(type.isUnion() ? type.types : [type]) ?? this.#ownName(type);
    if (name !== undefined) return name;
    const text = this.#text(type);
    return /[{"]/.test(text) ? undefined : pascal(text.replace(/\W+/g, ''));
  }

  #isLibrary(type: ts.Type, name?: string): boolean {
    const { symbol } = type;
    if (symbol === undefined || symbol.name.startsWith('__')) return false;
    return isOfLibrary(symbol) && (name === undefined || symbol.name === name);
  }

  #describe(symbol: ts.Symbol | undefined): { description?: string } {
    if (symbol !== undefined && isOfLibrary(symbol)) return {}; // what Partial and Record are says nothing of what they hold here
    const text = ts.displayPartsToString(symbol?.getDocumentationComment(this.checker));
    return text === '' ? {} : { description: text };
  }

  #text(type: ts.Type): string {
    return this.checker.typeToString(type);
  }

  #refused<T extends object>(place: Place, what: string, fix: string, rest?: T): TypeUse & T {
    this.refusals.add(place.node, `GraphQL cannot express ${what}`, fix);
    return { kind: 'named', name: 'String', nullable: true, ...rest } as TypeUse & T;
  }
}

/** Declared by TypeScript or Node.js. */
function isOfLibrary({ declarations }: ts.Symbol): boolean {
  return /\/typescript\/lib\/lib\.|\/@types\/node\//.test(declarations?.[0]?.getSourceFile().fileName ?? '');
}

/** Whether GraphQL takes the name. */
export function isName(name: string): boolean {
  return NAME.test(name) && !name.startsWith('__');
}

/** Everything that the edges lead to from here, and what they start from. */
function reached(from: string, edges: readonly { owner: string; to: string }[]): ReadonlySet<string> {
  const found = new Set([from]);
  for (const name of found) for (const { owner, to } of edges) if (owner === name) found.add(to);
  return found;
}

/** What a class keeps to itself is no field; nor are methods of what is given, as only fields are. What is taken would lack them. */
function isField({ valueDeclaration: declaration }: ts.Symbol, { direction }: Place): boolean {
  if (declaration === undefined) return true;
  if (direction === 'output' && ts.isMethodDeclaration(declaration) && ts.isClassLike(declaration.parent)) return false;
  const name = ts.getNameOfDeclaration(declaration);
  if (name !== undefined && ts.isPrivateIdentifier(name)) return false;
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  return (ts.getCombinedModifierFlags(declaration) & hidden) === 0;
}

/** `string & { __brand: 'User' }` is a string when it runs: what stands beside it is for the compiler. */
function withoutBrand(type: ts.Type): ts.Type {
  if (!type.isIntersection()) return type;
  return type.types.find((part) => (part.flags & PRIMITIVE) !== 0) ?? type;
}

/** Any text, and not one of a few: those are an enum. */
function isText(types: readonly ts.Type[]): boolean {
  const open = ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral;
  return (
    types.some((type) => (type.flags & open) !== 0) &&
    types.every((type) => (type.flags & ts.TypeFlags.StringLike) !== 0)
  );
}

function isBigInt(types: readonly ts.Type[]): boolean {
  return types.map(withoutBrand).every((type) => (type.flags & ts.TypeFlags.BigIntLike) !== 0);
}

export function pascal(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function singular(hint: string): string {
  return hint.endsWith('s') && !hint.endsWith('ss') ? hint.slice(0, -1) : hint;
}
