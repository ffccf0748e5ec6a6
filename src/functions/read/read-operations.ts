import ts from 'typescript';
import { GraphsteadErrors } from '../../base/index.js';
import type { AppSource } from '../app-source.js';
import type { AppManifest, OperationDescription } from '../contract.js';
import { readHandlers } from './handlers.js';
import { kindOf, operationName } from './kind.js';
import { openProgram, type Program } from './program.js';
import { Refusals } from './refuse.js';
import { type ReadOperation, SignatureReader } from './signature-reader.js';
import { hashOfText } from './text-hash.js';
import { TypeReader } from './type-reader.js';

const DEFAULT_FIX = 'give it one: export function getIt() { ... } in place of export default function';

const CLASS_FIX =
  'give one of the classes a static agentName of its own, or declare it abstract where others extend it';

/** What was read, and the files it depends on: path -> hash of the text that was read. */
export interface Reading {
  readonly manifest: AppManifest;
  readonly files: Readonly<Record<string, string>>;
}

/**
 * Reads an app's exported functions, and the handlers of its agents that clients may ask for. Throws GraphsteadErrors with every
 * mistake: SYNTAX, FUNCTION_TYPE.
 */
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
  const signatures = new SignatureReader(program.checker, types, refusals);
  const read = [...readFunctions(program, signatures), ...readHandlers(program, signatures)];
  refuseTwins(read, refusals);
  types.refuseCircles();
  refusals.throwIfAny();
  const operations = read.map(({ description }) => description);
  return { manifest: { format: 1, operations, types: types.definitions }, files: hashes(program) };
}

function readFunctions(program: Program, signatures: SignatureReader): readonly ReadOperation[] {
  const { checker, refusals } = signatures;
  return exportedFunctions(program).flatMap(({ name: exported, symbol }) => {
    const found = functionOf(checker, symbol);
    if (found === undefined) return [];
    if (exported === 'default') {
      refusals.add(found.node, 'a default export is no operation: it has no name', DEFAULT_FIX);
      return [];
    }
    const { node } = found;
    const place = ts.isFunctionDeclaration(node) && node.name !== undefined ? node.name : node;
    const name = operationName(exported);
    const read = signatures.read({ shown: exported, name, symbol, signatures: found.signatures, place });
    if (read === undefined) return [];
    const { stream, ...signature } = read;
    const tags = symbol.getJsDocTags(checker).map((tag) => tag.name);
    const kind = stream ? 'subscription' : kindOf(exported, tags);
    return [{ description: { ...signature, export: exported, kind }, place }];
  });
}

function refuseTwins(read: readonly ReadOperation[], refusals: Refusals): void {
  const seen = new Map<string, OperationDescription>();
  for (const { description, place } of read) {
    const other = seen.get(description.name);
    seen.set(description.name, description);
    if (other === undefined) continue;
    const first = `"${other.export}" (${other.file}:${other.line})`;
    const fix = isSameAgent(description, other) ? CLASS_FIX : 'rename one of them';
    refusals.add(place, `"${description.export}" and ${first} give the same operation`, fix);
  }
}

/** Two classes whose agents have one name: they may have the very same method. */
function isSameAgent({ handler }: OperationDescription, { handler: other }: OperationDescription): boolean {
  return handler !== undefined && handler.type === other?.type;
}

/** Of the texts that were read: a file may have changed again since. */
function hashes({ files }: Program): Record<string, string> {
  return Object.fromEntries(files.map(({ fileName, text }) => [fileName, hashOfText(text)]));
}

/** Each once: a file may export on what another does. */
function exportedFunctions({ checker, entries }: Program): readonly { name: string; symbol: ts.Symbol }[] {
  const namesOf = new Map<ts.Symbol, Set<string>>();
  for (const file of entries) {
    const module = checker.getSymbolAtLocation(file);
    for (const exported of module === undefined ? [] : checker.getExportsOfModule(module)) {
      const symbol = aliased(checker, exported);
      if ((symbol.flags & ts.SymbolFlags.Value) === 0) continue;
      namesOf.set(symbol, (namesOf.get(symbol) ?? new Set()).add(exported.name));
    }
  }
  return [...namesOf].flatMap(([symbol, names]) => {
    // a default that has a name of its own too is the operation of that name
    const counted = names.size === 1 ? [...names] : [...names].filter((name) => name !== 'default');
    return counted.map((name) => ({ name, symbol }));
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
