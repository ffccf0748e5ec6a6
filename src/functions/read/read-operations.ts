import ts from 'typescript';
import { GraphsteadErrors } from '../../base/index.js';
import type { AppSource } from '../app-source.js';
import type { AppManifest, FieldDescription, OperationDescription, TypeUse } from '../contract.js';
import { kindOf, operationName } from './kind.js';
import { literalValue } from './literal.js';
import { openProgram, type Program } from './program.js';
import { Refusals } from './refuse.js';
import { hashOfText } from './text-hash.js';
import { pascal, TypeReader } from './type-reader.js';

/** What was read, and the files it depends on: path -> hash of the text that was read. */
export interface Reading {
  readonly manifest: AppManifest;
  readonly files: Readonly<Record<string, string>>;
}

type FunctionNode = ts.SignatureDeclaration & { readonly parameters: ts.NodeArray<ts.ParameterDeclaration> };

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
    return exported
      .map((symbol) => ({ name: symbol.name, symbol: aliased(checker, symbol) }))
      .filter(({ name, symbol }) => name !== 'default' && (symbol.flags & ts.SymbolFlags.Value) !== 0);
  });
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
    const node = symbol.valueDeclaration;
    if (node === undefined || ts.isClassDeclaration(node)) return undefined;
    const signatures = this.checker.getTypeOfSymbolAtLocation(symbol, node).getCallSignatures();
    if (signatures.length === 0) return undefined;
    const place = ts.isFunctionDeclaration(node) && node.name !== undefined ? node.name : node;
    const [signature] = signatures;
    if (signatures.length > 1) this.refusals.add(place, `"${exportName}" is overloaded`, 'leave one signature');
    if (signature.typeParameters !== undefined) {
      this.refusals.add(place, `"${exportName}" is generic`, 'give concrete types');
      return undefined;
    }
    const name = operationName(exportName);
    if (!/^[_A-Za-z][_0-9A-Za-z]*$/.test(name) || name.startsWith('__')) {
      this.refusals.add(place, `"${name}" is no GraphQL name`, 'use letters, digits and single underscores');
    }
    const declaration = signature.getDeclaration() as FunctionNode | undefined;
    const args = (declaration?.parameters ?? []).map((parameter) => this.#argument(parameter, name));
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

  #argument(parameter: ts.ParameterDeclaration, operation: string): FieldDescription | undefined {
    if (!ts.isIdentifier(parameter.name)) {
      this.refusals.add(parameter, 'an argument needs a name', 'write (input: Input) and take it apart inside');
      return undefined;
    }
    if (parameter.dotDotDotToken !== undefined) {
      this.refusals.add(parameter, 'GraphQL has no rest arguments', 'take an array');
      return undefined;
    }
    const name = parameter.name.text;
    const optional = parameter.questionToken !== undefined || parameter.initializer !== undefined;
    const hint = `${pascal(operation)}${pascal(name)}`;
    const place = { node: parameter, direction: 'input', hint } as const;
    const type = this.types.read(this.checker.getTypeAtLocation(parameter), place, optional);
    const symbol = this.checker.getSymbolAtLocation(parameter.name);
    const description = ts.displayPartsToString(symbol?.getDocumentationComment(this.checker));
    const defaultValue = parameter.initializer === undefined ? undefined : literalValue(parameter.initializer);
    return {
      name,
      type,
      ...(description === '' ? {} : { description }),
      ...(defaultValue === undefined ? {} : { defaultValue }),
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
