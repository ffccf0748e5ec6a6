import ts from 'typescript';
import type { FieldDescription, OperationDescription, TypeUse } from '../contract.js';
import { literalValue } from './literal.js';
import { HELPER_FIX, type Refusals } from './refuse.js';
import { isName, NAME_FIX, pascal, type TypeReader } from './type-reader.js';

type FunctionNode = ts.SignatureDeclaration & { readonly parameters: ts.NodeArray<ts.ParameterDeclaration> };

interface Parameter {
  readonly declaration: ts.ParameterDeclaration | ts.NamedTupleMember;
  readonly type: ts.Type;
  readonly optional: boolean;
}

/** Something that can be called, by the name that it has in the app. */
interface Callable {
  /** as messages name it */
  readonly shown: string;
  /** of the operation */
  readonly name: string;
  readonly symbol: ts.Symbol;
  readonly signatures: readonly ts.Signature[];
  /** of mistakes */
  readonly place: ts.Node;
}

/** An operation, and where mistakes of it are told. */
export interface ReadOperation {
  readonly description: OperationDescription;
  readonly place: ts.Node;
}

/** What a signature makes of an operation. */
type Signature = Pick<
  OperationDescription,
  'name' | 'description' | 'args' | 'result' | 'void' | 'file' | 'line' | 'column'
> & { readonly stream: boolean };

/** Reads what an operation takes and gives from the signature of a function or a method. */
export class SignatureReader {
  constructor(
    readonly checker: ts.TypeChecker,
    readonly types: TypeReader,
    readonly refusals: Refusals,
  ) {}

  /** undefined for one that cannot be an operation (which is noted). */
  read({ shown, name, symbol, signatures, place }: Callable): Signature | undefined {
    const [signature] = signatures;
    if (signatures.length > 1)
      this.refusals.add(place, `"${shown}" is overloaded`, `leave one signature; ${HELPER_FIX}`);
    if (signature.typeParameters !== undefined) {
      this.refusals.add(place, `"${shown}" is generic`, `give concrete types; ${HELPER_FIX}`);
      return undefined;
    }
    if (!isName(name)) this.refusals.add(place, `"${name}" is no GraphQL name`, NAME_FIX);
    const declaration = signature.getDeclaration() as FunctionNode | undefined;
    const args = this.#parameters(signature, declaration, place).map((parameter) => this.#argument(parameter, name));
    const result = this.#result(signature.getReturnType(), declaration?.type ?? place, name);
    const { line, column, source = '' } = this.refusals.placeOf(place);
    const text = ts.displayPartsToString(symbol.getDocumentationComment(this.checker));
    return {
      name,
      ...(text === '' ? {} : { description: text }),
      args: args.filter((arg) => arg !== undefined),
      result: result.type,
      stream: result.stream === true,
      ...(result.nothing ? { void: true } : {}),
      file: source,
      line,
      column,
    };
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
      this.refusals.add(declaration, 'GraphQL has no rest arguments', `take an array; ${HELPER_FIX}`);
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
