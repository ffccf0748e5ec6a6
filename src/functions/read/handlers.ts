import ts from 'typescript';
import type { FieldDescription, TypeDefinition, TypeUse } from '../contract.js';
import { isOwnFile } from '../app-source.js';
import { kindOf, operationName } from './kind.js';
import type { Program } from './program.js';
import type { ReadOperation, SignatureReader } from './signature-reader.js';

// Handlers of agents whose doc comments say `@mutation` or `@query`: clients send these messages by themselves.

const MARK = /@(query|mutation)\b/;
const AGENT_ID = 'agentId';
const OR_ABSTRACT = ', or make the class abstract where only those that extend it are registered';

/** A class of agents as its text has it. */
interface AgentClass {
  readonly node: ts.ClassLikeDeclaration;
  readonly instance: ts.Type;
  /** of the class itself, which has what is static */
  readonly statics: ts.Type;
}

interface Handler {
  readonly symbol: ts.Symbol;
  readonly tags: readonly string[];
  readonly place: ts.Node;
}

export function readHandlers(program: Program, signatures: SignatureReader): readonly ReadOperation[] {
  if (!program.sources.some(({ text }) => MARK.test(text))) return [];
  const reader = new HandlerReader(signatures);
  return program.sources.flatMap((file) => classesIn(file)).flatMap((node) => reader.read(node));
}

function classesIn(node: ts.Node): readonly ts.ClassLikeDeclaration[] {
  const found: ts.ClassLikeDeclaration[] = [];
  const look = (one: ts.Node): void => {
    if (ts.isClassLike(one) && one.heritageClauses !== undefined && !isAbstract(one)) found.push(one);
    ts.forEachChild(one, look);
  };
  look(node);
  return found;
}

/** Its handlers are those of the classes that extend it. */
function isAbstract(node: ts.ClassLikeDeclaration): boolean {
  return (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Abstract) !== 0;
}

class HandlerReader {
  constructor(readonly signatures: SignatureReader) {}

  read(node: ts.ClassLikeDeclaration): readonly ReadOperation[] {
    const type = this.#agentClass(node);
    if (type === undefined || this.#isMixin(node)) return [];
    const handlers = this.#marked(type);
    if (handlers.length === 0) return [];
    const name = this.#nameOf(type);
    return name === undefined ? [] : handlers.flatMap((handler) => this.#operation(type, name, handler) ?? []);
  }

  #agentClass(node: ts.ClassLikeDeclaration): AgentClass | undefined {
    const { checker } = this.signatures;
    const own = checker.getTypeAtLocation(node);
    const instance = ts.isClassDeclaration(node) ? own : own.getConstructSignatures()[0]?.getReturnType();
    if (instance === undefined || !isAgent(instance)) return undefined;
    const statics = ts.isClassDeclaration(node) ? checker.getTypeOfSymbolAtLocation(instance.symbol, node) : own;
    return { node, instance, statics };
  }

  /** A class for others to extend, as an abstract one is: what it extends is for whoever asks for it to say. */
  #isMixin({ heritageClauses }: ts.ClassLikeDeclaration): boolean {
    const clause = heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword);
    const base = clause && this.signatures.checker.getTypeAtLocation(clause.types[0].expression);
    return base?.isTypeParameter() === true;
  }

  #marked({ node, instance }: AgentClass): readonly Handler[] {
    const { checker } = this.signatures;
    return checker.getPropertiesOfType(instance).flatMap((symbol) => {
      const tags = symbol.getJsDocTags(checker).map((tag) => tag.name);
      if (!tags.includes('query') && !tags.includes('mutation')) return [];
      const declared = symbol.valueDeclaration;
      const place = declared === undefined ? node : (ts.getNameOfDeclaration(declared) ?? declared);
      return [{ symbol, tags, place }];
    });
  }

  /** As agents.register knows it. */
  #nameOf({ node, statics }: AgentClass): string | undefined {
    const { refusals } = this.signatures;
    const given = statics.getProperty('agentName')?.valueDeclaration;
    if (given === undefined) return classNameOf(node);
    const value = initializerOf(given);
    if (value !== undefined && ts.isStringLiteralLike(value)) return value.text;
    refusals.add(given, 'the agentName of a class with operations is computed', "write it out: agentName = 'Parcel'");
    return undefined;
  }

  #operation(type: AgentClass, typeName: string, handler: Handler): ReadOperation | undefined {
    const { checker, refusals } = this.signatures;
    const { symbol, tags, place } = handler;
    const message = symbol.name;
    const kind = kindOf(message, tags);
    this.#assertListed(type, message, kind, place);
    const shown = `${typeName}.${message}`;
    const called = checker.getTypeOfSymbolAtLocation(symbol, type.node).getCallSignatures();
    if (called.length === 0) {
      refusals.add(place, `"${shown}" is no method, and answers no message`, 'write it as a method');
      return undefined;
    }
    const name = `${operationName(typeName)}${message.charAt(0).toUpperCase()}${message.slice(1)}`;
    const read = this.signatures.read({ shown, name, symbol, signatures: called, place });
    if (read === undefined) return undefined;
    const { stream, ...signature } = read;
    if (stream) {
      const fix = 'publish events as it goes, which clients read by agentEvent; or write a function that gives them';
      refusals.add(place, `"${shown}" gives a stream, and a message has one reply`, fix);
    }
    if (read.args.some((arg) => arg.name === AGENT_ID)) {
      const why = `"${shown}" takes an ${AGENT_ID}, by which clients name the agent itself`;
      refusals.add(place, why, 'give the parameter another name');
    }
    this.#assertJson(shown, read.args, read.result, place);
    const args = [agentIdOf(typeName), ...read.args];
    const description = { ...signature, args, export: shown, kind, handler: { type: typeName, message } };
    return { description, place };
  }

  /** As far as the lists are written out: what is computed is told when a message comes. */
  #assertListed({ statics }: AgentClass, message: string, kind: 'query' | 'mutation', place: ts.Node): void {
    const { refusals } = this.signatures;
    const handlers = namesIn(statics, 'handlers');
    if (handlers?.includes(message) === false) {
      const listed = [...handlers, message].map((name) => `'${name}'`).join(', ');
      const fix = `list it: static readonly handlers = [${listed}] as const${handlers.length === 0 ? OR_ABSTRACT : ''}`;
      refusals.add(place, `"${message}" is marked as an operation, and the class takes no such message`, fix);
    }
    if (kind === 'query' && namesIn(statics, 'readOnly')?.includes(message) === false) {
      const fix = 'list it in static readOnly where it changes nothing, or mark it with @mutation';
      refusals.add(place, `"${message}" is marked as a query, and may change its agent`, fix);
    }
  }

  /** What a message carries, and its reply, is JSON. */
  #assertJson(shown: string, args: readonly FieldDescription[], result: TypeUse, place: ts.Node): void {
    const { refusals, types } = this.signatures;
    const known = new Map(types.definitions.map((definition) => [definition.name, definition]));
    for (const [what, use] of [...args.map(({ name, type }) => [name, type] as const), ['result', result] as const]) {
      const lost = notJson(use, what, known);
      if (lost === undefined) continue;
      refusals.add(place, `"${shown}" is a message, which is JSON, and ${lost.path} is a ${lost.type}`, lost.fix);
    }
  }
}

function agentIdOf(typeName: string): FieldDescription {
  const type = { kind: 'named', name: 'ID', nullable: false } as const;
  return { name: AGENT_ID, type, description: `Id of the ${typeName}.` };
}

/** Whether it is, or extends, what an app imports as Agent. */
function isAgent(type: ts.Type): boolean {
  const { symbol } = type;
  const declared = symbol?.declarations?.[0]?.getSourceFile().fileName ?? '';
  if (symbol?.name === 'Agent' && isOwnFile(declared)) return true;
  // what a mixin gives: its own class and the one that it was given
  if (type.isIntersection()) return type.types.some(isAgent);
  return (type.isClassOrInterface() ? type : targetOf(type))?.getBaseTypes()?.some(isAgent) === true;
}

/** The class of `Base<string>`. */
function targetOf(type: ts.Type): ts.InterfaceType | undefined {
  const { target } = type as Partial<ts.TypeReference>;
  return target?.isClassOrInterface() ? target : undefined;
}

/** undefined for one that has no name by itself: nobody registers it, those that extend it have theirs. */
function classNameOf(node: ts.ClassLikeDeclaration): string | undefined {
  if (node.name !== undefined) return node.name.text;
  let { parent } = node as ts.Node;
  while (isWrapping(parent)) parent = parent.parent;
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) {
    return ts.isIdentifier(parent.name) || ts.isStringLiteral(parent.name) ? parent.name.text : undefined;
  }
  return ts.isClassDeclaration(node) || ts.isExportAssignment(parent) ? 'default' : undefined;
}

/** `[] as const` and the like without what stands around it. */
function initializerOf(declared: ts.Declaration): ts.Expression | undefined {
  let value = ts.isPropertyDeclaration(declared) ? declared.initializer : undefined;
  while (value !== undefined && isWrapping(value)) value = value.expression;
  return value;
}

type Wrapping = ts.AsExpression | ts.SatisfiesExpression | ts.ParenthesizedExpression;

function isWrapping(node: ts.Node): node is Wrapping {
  return ts.isAsExpression(node) || ts.isSatisfiesExpression(node) || ts.isParenthesizedExpression(node);
}

/** The names in a static list; none where it is missing, undefined where it is not written out. */
function namesIn(statics: ts.Type, list: string): readonly string[] | undefined {
  const declared = statics.getProperty(list)?.valueDeclaration;
  if (declared === undefined) return [];
  const value = initializerOf(declared);
  if (value === undefined || !ts.isArrayLiteralExpression(value)) return undefined;
  const names = value.elements.map((element) => (ts.isStringLiteralLike(element) ? element.text : undefined));
  return names.every((name) => name !== undefined) ? names : undefined;
}

interface NotJson {
  readonly path: string;
  readonly type: string;
  readonly fix: string;
}

/** What a type holds that JSON does not give back. */
function notJson(
  use: TypeUse,
  path: string,
  known: ReadonlyMap<string, TypeDefinition>,
  seen = new Set<string>(),
): NotJson | undefined {
  if (use.of !== undefined) return notJson(use.of, path, known, seen);
  if (use.name === 'DateTime') return { path, type: 'Date', fix: 'take and give its text: toISOString()' };
  if (use.bigint === true) return { path, type: 'bigint', fix: 'take Int64 of "graphstead/app", or a text' };
  const definition = known.get(use.name ?? '');
  if (definition === undefined || seen.has(definition.name)) return undefined;
  seen.add(definition.name);
  if (definition.kind === 'union') {
    const members = definition.members.map(({ type }) => ({ kind: 'named', name: type, nullable: false }) as const);
    return firstOf(members, (member) => notJson(member, path, known, seen));
  }
  if (definition.kind === 'enum') return undefined;
  return firstOf(definition.fields, ({ name, type }) => notJson(type, `${path}.${name}`, known, seen));
}

function firstOf<T, R>(all: readonly T[], of: (one: T) => R | undefined): R | undefined {
  for (const one of all) {
    const found = of(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
