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
import { isCustom, isRemoteName, kindOf } from '../lookup.js';
import type { Rule, RuleContext } from '../rule.js';

/** @hasInverse pairs two edges, each the other end of the other, and each with one partner. */
export const inverse: Rule = {
  name: 'inverse',
  check(context) {
    const claimed = new Map<string, string>();
    for (const object of context.definitions.objects.values()) {
      for (const field of object.own) {
        const node = directive(field.node, 'hasInverse');
        if (node) pair(context, claimed, object, field, node);
      }
    }
  },
};

function pair(
  context: RuleContext,
  claimed: Map<string, string>,
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
  claim(claimed, object, where, `${targetName}.${otherName}`, refuse);
}

/** Two fields of one type cannot both be the inverse of one edge. */
function claim(
  claimed: Map<string, string>,
  object: ObjectDefinition,
  where: string,
  target: string,
  refuse: (message: string, fix: string) => void,
): void {
  const key = `${target}<${object.name}`;
  const earlier = claimed.get(key);
  if (earlier !== undefined && earlier !== where) {
    refuse(
      `@hasInverse on ${where}: ${target} is the inverse of ${earlier} already`,
      'Give each edge an inverse of its own.',
    );
  } else claimed.set(key, where);
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
