import type { ConstDirectiveNode } from 'graphql';
import {
  argument,
  baseName,
  directive,
  type FieldDefinition,
  mapping,
  type ObjectDefinition,
  position,
  text,
} from '../definition.js';
import { implementersOf } from '../inverse-map.js';
import { isCustom, isRemoteName, kindOf } from '../lookup.js';
import type { Rule, RuleContext } from '../rule.js';

/** @hasInverse pairs two edges, each the other end of the other, and each with one partner. */
export const inverse: Rule = {
  name: 'inverse',
  check(context) {
    const claims = new Claims(context);
    for (const object of context.definitions.objects.values()) {
      for (const field of object.own) {
        const node = directive(field.node, 'hasInverse');
        if (node) pair(context, claims, object, field, node);
      }
    }
  },
};

function pair(
  context: RuleContext,
  claims: Claims,
  object: ObjectDefinition,
  field: FieldDefinition,
  node: ConstDirectiveNode,
): void {
  const where = `${object.name}.${field.name}`;
  const refuse = (message: string, fix: string): void => context.report({ position: position(node), message, fix });
  const targetName = baseName(field.node.type);
  const kind = kindOf(context.definitions, targetName);
  const target = context.definitions.objects.get(targetName);
  if (!target) {
    if (kind !== undefined)
      refuse(`@hasInverse on ${where}: ${targetName} is not an object type`, 'Remove @hasInverse.');
    return;
  }
  if (isRemoteName(context.definitions, targetName) || isCustom(field)) {
    refuse(`@hasInverse on ${where}: the other end is not stored`, 'Remove @hasInverse.');
    return;
  }
  const otherName = text(argument(node, 'field')) ?? '';
  const other = target.fields.find((f) => f.name === otherName);
  if (!other) {
    refuse(`@hasInverse on ${where}: ${targetName} has no field ${otherName}`, `Add ${otherName} to ${targetName}.`);
    return;
  }
  const back = directive(other.node, 'hasInverse');
  const backName = back && text(argument(back, 'field'));
  if (backName !== undefined && backName !== field.name) {
    refuse(
      `@hasInverse on ${where} names ${targetName}.${otherName}, which names ${object.name}.${backName} in turn`,
      `Let each name the other: @hasInverse(field: "${field.name}") on ${targetName}.${otherName}.`,
    );
  }
  if (isCustom(other))
    refuse(`@hasInverse on ${where}: ${targetName}.${otherName} is not stored`, 'Remove @hasInverse.');
  else if (!pointsBack(object, other, context)) {
    refuse(
      `@hasInverse on ${where}: ${targetName}.${otherName} has the type ${baseName(other.node.type)}, not ${object.name}`,
      `Give ${targetName}.${otherName} the type ${object.name} or [${object.name}].`,
    );
  }
  if (isReverse(other)) {
    refuse(`@hasInverse on ${where}: ${targetName}.${otherName} reads a reverse edge already`, 'Remove @hasInverse.');
  }
  const earlier = claims.claim(object, field, targetName, otherName);
  if (earlier) {
    refuse(
      `@hasInverse on ${where}: ${earlier.end} is the inverse of ${earlier.where} already`,
      'Give each edge an inverse of its own.',
    );
  }
}

/**
 * Which edges took which as their other end. Two fields of one type cannot both be the inverse of one edge, nor can the two
 * meet in a type that inherits an end; the peer sees the types alone that are written.
 */
class Claims {
  readonly #where = new Map<string, string>();
  readonly #implementers: ReadonlyMap<string, readonly string[]>;

  constructor({ definitions, lax }: RuleContext) {
    this.#implementers = lax ? new Map() : implementersOf(definitions);
  }

  /** An end that another field has taken, where there is one. */
  claim(
    object: ObjectDefinition,
    by: FieldDefinition,
    target: string,
    field: string,
  ): { end: string; where: string } | undefined {
    // a type may repeat what it inherits
    const owner = object.fields.find(({ name }) => name === by.name)?.owner ?? object;
    const where = `${owner.name}.${by.name}`;
    let taken: { end: string; where: string } | undefined;
    for (const end of this.#with(target)) {
      for (const from of this.#with(object.name)) {
        const key = `${end}.${field}<${from}`;
        const earlier = this.#where.get(key) ?? where;
        this.#where.set(key, earlier);
        if (earlier !== where) taken ??= { end: `${end}.${field}`, where: earlier };
      }
    }
    return taken;
  }

  #with(name: string): string[] {
    return [name, ...(this.#implementers.get(name) ?? [])];
  }
}

/** The other end leads to this type, to an interface it implements, or to one of this interface's types. */
function pointsBack(object: ObjectDefinition, other: FieldDefinition, { definitions }: RuleContext): boolean {
  const name = baseName(other.node.type);
  if (name === object.name || object.interfaces.includes(name)) return true;
  return object.kind === 'interface' && definitions.objects.get(name)?.interfaces.includes(object.name) === true;
}

function isReverse(field: FieldDefinition): boolean {
  const pred = text(argument(mapping(field.node), 'pred'));
  return pred !== undefined && /^<?~/.test(pred);
}
