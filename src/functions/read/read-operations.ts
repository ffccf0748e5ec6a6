import ts from 'typescript';
import { GraphsteadErrors } from '../../base/index.js';
import type { AppSource } from '../app-source.js';
import type { AppManifest, FieldDescription, OperationDescription, TypeUse } from '../contract.js';
import { kindOf, operationName } from './kind.js';
import { literalValue } from './literal.js';
import { openProgram, type Program } from './program.js';
import { Refusals } from './refuse.js';
import { hashOfText } from './text-hash.js';
import { isName, NAME_FIX, pascal, TypeReader } from './type-reader.js';

const DEFAULT_FIX = 'give it one: export function getIt() { ... } in place of export default function';

/** What was read, and the files it depends on: path -> hash of the text that was read. */
export interface Reading {
  readonly manifest: AppManifest;
  readonly files: Readonly<Record<string, string>>;
}

type FunctionNode = ts.SignatureDeclaration & { readonly parameters: ts.NodeArray<ts.ParameterDeclaration> };

interface Parameter {
  readonly declaration: ts.ParameterDeclaration | ts.NamedTupleMember;
  readonly type: ts.Type;
  readonly optional: boolean;
}

/** Reads an app's exported functions. Throws GraphsteadErrors with every mistake: SYNTAX, FUNCTION_TYPE. */
export function readSource(source: AppSource): Reading {
  try {
    return readWith(source, false);
  } catch (error) {
    // What could not be resolved may come from Node.js.
    if (error instanceof GraphsteadErrors && error.errors.some((one) => one.code === 'FUNCTION_TYPE')) {
      return readWith(source, true);
    }
    throw error;
  }
}

function readWith(source: AppSource, withPlatform: boolean): Reading {
  const program = openProgram(source, withPlatform);
  const refusals = new Refusals(source.appDir);
  const types = new TypeReader(program.checker, refusals);
  const seen = new Map<string, OperationDescription>();
  const operations: OperationDescription[] = [];
  for (const { name, symbol } of exportedFunctions(program)) {
    if (name === 'default') {
      const { node } = functionOf(program.checker, symbol) ?? {};
      if (node !== undefined) refusals.add(node, 'a default export is no operation: it has no name', DEFAULT_FIX);
      continue;
    }
    const read = new FunctionReader(program.checker, types, refusals).read(name, symbol);
    if (read === undefined) continue;
    const other = seen.get(read.description.name);
    seen.set(read.description.name, read.description);
    if (other !== undefined) {
      const { export: first, file, line } = other;
      refusals.add(
        read.node,
        `"${name}" and "${first}" (${file}:${line}) give the same operation`,
        'rename one of them',
      );
    }
    operations.push(read.description);
  }
  types.refuseCircles();
  refusals.throwIfAny();
  return { manifest: { format: 1, operations, types: types.definitions }, files: hashes(program) };
}

/** Of the texts that were read: a file may have changed again since. */
function hashes({ files }: Program): Record<string, string> {
  return Object.fromEntries(files.map(({ fileName, text }) => [fileName, hashOfText(text)]));
}

function exportedFunctions({ checker, entries }: Program): { name: string; symbol: ts.Symbol }[] {
  return entries.flatMap((file) => {
    const module = checker.getSymbolAtLocation(file);
    const exported = module === undefined ? [] : checker.getExportsOfModule(module);
    const all = exported.map((symbol) => ({ name: symbol.name, symbol: aliased(checker, symbol) }));
    // a default that has a name of its own too is the operation of that name
    const named = new Set(all.flatMap(({ name, symbol }) => (name === 'default' ? [] : [symbol])));
    return all.filter(({ name, symbol }) => {
      return (symbol.flags & ts.SymbolFlags.Value) !== 0 && (name !== 'default' || !named.has(symbol));
    });
  });
}

/** How the export can be called, and its place; undefined for one that is no function. */
function functionOf(checker: ts.TypeChecker, symbol: ts.Symbol) {
  const node = symbol.valueDeclaration;
  if (node === undefined || ts.isClassDeclaration(node)) return undefined;
  const signatures = checker.getTypeOfSymbolAtLocation(symbol, node).getCallSignatures();
  return signatures.length === 0 ? undefined : { node, signatures };
}

function aliased(checker: ts.TypeChecker, symbol: ts.Symbol): ts.Symbol {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

class FunctionReader {
  constructor(
    readonly checker: ts.TypeChecker,
    readonly types: TypeReader,
    readonly refusals: Refusals,
  ) {}

  /** undefined for an export that is no function, and for one that cannot be an operation (which is noted). */
  read(exportName: string, symbol: ts.Symbol): { description: OperationDescription; node: ts.Node } | undefined {
    const found = functionOf(this.checker, symbol);
    if (found === undefined) return undefined;
    const { node, signatures } = found;
    const place = ts.isFunctionDeclaration(node) && node.name !== undefined ? node.name : node;
    const [signature] = signatures;
    if (signatures.length > 1) this.refusals.add(place, `"${exportName}" is overloaded`, 'leave one signature');
    if (signature.typeParameters !== undefined) {
      this.refusals.add(place, `"${exportName}" is generic`, 'give concrete types');
      return undefined;
    }
    const name = operationName(exportName);
    if (!isName(name)) this.refusals.add(place, `"${name}" is no GraphQL name`, NAME_FIX);
    const declaration = signature.getDeclaration() as FunctionNode | undefined;
    const args = this.#parameters(signature, declaration, place).map((parameter) => this.#argument(parameter, name));
    const tags = symbol.getJsDocTags(this.checker).map((tag) => tag.name);
    const result = this.#result(signature.getReturnType(), declaration?.type ?? place, name);
    const { line, column, source = '' } = this.refusals.placeOf(place);
    const text = ts.displayPartsToString(symbol.getDocumentationComment(this.checker));
    const description: OperationDescription = {
      name,
      export: exportName,
      kind: result.stream ? 'subscription' : kindOf(exportName, tags),
      ...(text === '' ? {} : { description: text }),
      args: args.filter((arg) => arg !== undefined),
      result: result.type,
      ...(result.nothing ? { void: true } : {}),
      file: source,
      line,
      column,
    };
    return { description, node: place };
  }

  /** As this signature has them: where a function was wrapped, the wrapper's declaration has open types. */
  #parameters(signature: ts.Signature, declared: FunctionNode | undefined, place: ts.Node): readonly Parameter[] {
    return signature.parameters.flatMap((symbol, i) => {
      // one that several signatures were united to has none of its own
      const declaration = (symbol.valueDeclaration ?? declared?.parameters[i]) as ts.ParameterDeclaration | undefined;
      if (declaration === undefined) return [];
      const type = this.checker.getTypeOfSymbolAtLocation(symbol, place);
      if (declaration.dotDotDotToken !== undefined && this.checker.isTupleType(type)) {
        return this.#elements(type as ts.TupleTypeReference, declaration);
      }
      const optional = declaration.questionToken !== undefined || declaration.initializer !== undefined;
      return [{ declaration, type, optional }];
    });
  }

  /** `(...args: A)` of a wrapper, where A is what the wrapped function takes. */
  #elements(type: ts.TupleTypeReference, declaration: ts.ParameterDeclaration): readonly Parameter[] {
    const { elementFlags, labeledElementDeclarations: labels } = type.target;
    return this.checker.getTypeArguments(type).map((element, i) => {
      const optional = (elementFlags[i] & ts.ElementFlags.Optional) !== 0;
      return { declaration: labels?.[i] ?? declaration, type: element, optional };
    });
  }

  #argument({ declaration, type: given, optional }: Parameter, operation: string): FieldDescription | undefined {
    if (!ts.isIdentifier(declaration.name)) {
      this.refusals.add(declaration, 'an argument needs a name', 'write (input: Input) and take it apart inside');
      return undefined;
    }
    if (declaration.dotDotDotToken !== undefined) {
      this.refusals.add(declaration, 'GraphQL has no rest arguments', 'take an array');
      return undefined;
    }
    const name = declaration.name.text;
    if (!isName(name)) this.refusals.add(declaration, `"${name}" is no GraphQL name of an argument`, NAME_FIX);
    const hint = `${pascal(operation)}${pascal(name)}`;
    const place = { node: declaration, direction: 'input', hint } as const;
    const type = this.types.read(given, place, optional);
    const symbol = this.checker.getSymbolAtLocation(declaration.name);
    const text = ts.displayPartsToString(symbol?.getDocumentationComment(this.checker));
    const description = text.replace(/^-\s+/, ''); // TSDoc writes `@param name - what it is`
    const initializer = ts.isParameter(declaration) ? declaration.initializer : undefined;
    const defaultValue = initializer === undefined ? undefined : literalValue(initializer);
    if (!fits(type, defaultValue)) {
      const whole = leafName(type).startsWith('Int') ? 'whole ' : '';
      const fix = `write a ${whole}number within it`;
      this.refusals.add(declaration, `the default of "${name}" is no ${leafName(type)}`, fix);
    }
    return {
      name,
      type,
      ...(description === '' ? {} : { description }),
      ...(defaultValue === undefined || !isWritten(type, defaultValue) ? {} : { defaultValue }),
    };
  }

  #result(type: ts.Type, node: ts.Node, operation: string): { type: TypeUse; stream?: boolean; nothing?: boolean } {
    const place = { node, direction: 'output', hint: `${pascal(operation)}Result` } as const;
    const awaited = this.checker.getAwaitedType(type) ?? type;
    const item = this.#itemOf(awaited);
    if (item !== undefined) return { type: this.types.read(item, place), stream: true };
    const nothing = (awaited.flags & (ts.TypeFlags.Void | ts.TypeFlags.Undefined)) !== 0;
    if (nothing) return { type: { kind: 'named', name: 'Boolean', nullable: false }, nothing };
    return { type: this.types.read(awaited, place) };
  }

  /** What an AsyncIterable gives. */
  #itemOf(type: ts.Type): ts.Type | undefined {
    const names = ['AsyncIterable', 'AsyncGenerator', 'AsyncIterableIterator', 'AsyncIteratorObject'];
    if (!names.includes(type.symbol?.name ?? '')) return undefined;
    return this.checker.getTypeArguments(type as ts.TypeReference)[0];
  }
}

/** TypeScript takes any number for Int and Int64, and 1e999; a default that is none would break every introspection. */
function fits(use: TypeUse, value: unknown): boolean {
  if (Array.isArray(value)) return value.every((item) => fits(use.of ?? use, item));
  if (typeof value !== 'number') return true;
  if (use.name === 'Int') return (value | 0) === value;
  return use.name === 'Int64' ? Number.isSafeInteger(value) : Number.isFinite(value);
}

/** Whether introspection can write the value down: a list as JSON it cannot. The function gives such a default itself. */
function isWritten(use: TypeUse, value: unknown): boolean {
  if (!Array.isArray(value)) return true;
  return use.kind === 'list' && value.every((item) => isWritten(use.of ?? use, item));
}

function leafName({ name, of }: TypeUse): string {
  return of === undefined ? (name ?? '') : leafName(of);
}
