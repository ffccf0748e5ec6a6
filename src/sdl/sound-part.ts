import type { ASTNode, ConstDirectiveNode, DefinitionNode, DocumentNode, FieldDefinitionNode } from 'graphql';
import type { Position } from '../base/index.js';

/** A document without what is wrong in it. */
interface SoundPart {
  readonly document: DocumentNode;
  /** names of the definitions and fields that were left out */
  readonly left: ReadonlySet<string>;
}

interface Pruning {
  readonly places: readonly Position[];
  readonly left: Set<string>;
}

/**
 * Leaves out the smallest part around each mistake that can be missed: an argument of @auth, another directive of a
 * type, a field, else the whole definition.
 */
export function soundPart(document: DocumentNode, places: readonly Position[]): SoundPart {
  const pruning: Pruning = { places, left: new Set() };
  const definitions = document.definitions.flatMap((node) => soundDefinition(node, pruning));
  return { document: { ...document, definitions }, left: pruning.left };
}

function soundDefinition(node: DefinitionNode, pruning: Pruning): DefinitionNode[] {
  const inside = pruning.places.filter((place) => holds(node, place));
  if (inside.length === 0) return [node];
  const directives = (node.directives ?? []) as readonly ConstDirectiveNode[];
  const fields = 'fields' in node ? ((node.fields ?? []) as readonly FieldDefinitionNode[]) : [];
  const parts: readonly ASTNode[] = [...directives, ...fields];
  if (!inside.every((place) => parts.some((part) => holds(part, place)))) {
    if ('name' in node && node.name) pruning.left.add(node.name.value);
    return [];
  }
  const wrong = fields.filter((field) => inside.some((place) => holds(field, place)));
  for (const field of wrong) pruning.left.add(field.name.value);
  const kept = {
    ...node,
    directives: directives.flatMap((one) => soundDirective(one, inside)),
    ...('fields' in node ? { fields: fields.filter((field) => !wrong.includes(field)) } : {}),
  };
  return [kept as DefinitionNode];
}

/** Each argument of @auth is a rule of its own. */
function soundDirective(node: ConstDirectiveNode, inside: readonly Position[]): ConstDirectiveNode[] {
  const wrong = inside.filter((place) => holds(node, place));
  if (wrong.length === 0) return [node];
  const given = node.arguments ?? [];
  if (node.name.value !== 'auth' || !wrong.every((place) => given.some((one) => holds(one, place)))) return [];
  return [{ ...node, arguments: given.filter((one) => !wrong.some((place) => holds(one, place))) }];
}

function holds(node: ASTNode, { line, column }: Position): boolean {
  if (!node.loc) return false;
  const { startToken, endToken } = node.loc;
  const isBefore = line < startToken.line || (line === startToken.line && column < startToken.column);
  const last = lastLine(endToken);
  const isAfter = line > last || (line === endToken.line && column >= endToken.column + lengthOf(endToken));
  return !isBefore && !isAfter;
}

type Token = NonNullable<ASTNode['loc']>['endToken'];

const lengthOf = (token: Token): number => Math.max(1, token.end - token.start);

/** A text in triple quotes is one token of several lines. */
const lastLine = ({ kind, line, value }: Token): number =>
  kind === 'BlockString' ? line + (value?.split('\n').length ?? 1) + 1 : line;

/**
 * A message is about something that was left out: it says so only because of that. Inputs that are generated of a type
 * go with it.
 */
export function isAbout(message: string, left: ReadonlySet<string>): boolean {
  const words = message.match(/[_A-Za-z]\w*/g) ?? [];
  return words.some((word) => left.has(word) || left.has(word.replace(/(?:Has)?Filter$|Order$/, '')));
}
