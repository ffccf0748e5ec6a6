import { type ConstDirectiveNode, type ConstValueNode, Kind } from 'graphql';
import { levenshteinWithin } from '../../base/index.js';
import { type ObjectNode, position } from '../definition.js';
import { DIRECTIVES, OWN_DIRECTIVES, PEER_DIRECTIVES, type Place, type Shape } from '../directive-definition.js';
import type { Rule, RuleContext } from '../rule.js';

/** Directives exist, stand where they may, stand once, and have the arguments they take. */
export const knownDirective: Rule = {
  name: 'known-directive',
  check(context) {
    const { definitions } = context;
    const objects = [...definitions.objects.values()].map((object) => ({ node: object.node, kind: object.kind }));
    for (const { node, kind } of objects) {
      check(context, node.directives, kind, `${kind === 'object' ? 'type' : kind} ${node.name.value}`);
      fields(context, node);
    }
    for (const { node, root } of definitions.roots) {
      check(context, node.directives, 'argument', `type ${root}`);
      fields(context, node);
    }
    for (const node of definitions.unions.values())
      check(context, node.directives, 'union', `union ${node.name.value}`);
    for (const node of definitions.enums.values()) {
      check(context, node.directives, 'enum', `enum ${node.name.value}`);
      for (const value of node.values ?? []) {
        check(context, value.directives, 'enumValue', `${node.name.value}.${value.name.value}`);
      }
    }
    for (const node of definitions.inputs.values()) {
      check(context, node.directives, 'input', `input ${node.name.value}`);
      for (const field of node.fields ?? []) {
        check(context, field.directives, 'inputField', `${node.name.value}.${field.name.value}`);
      }
    }
  },
};

function fields(context: RuleContext, node: ObjectNode): void {
  for (const field of node.fields ?? []) {
    const where = `${node.name.value}.${field.name.value}`;
    check(context, field.directives, 'field', where);
    for (const argument of field.arguments ?? []) {
      check(context, argument.directives, 'argument', `${where}(${argument.name.value})`);
    }
  }
}

function check(
  context: RuleContext,
  directives: readonly ConstDirectiveNode[] | undefined,
  place: Place,
  where: string,
): void {
  const seen = new Set<string>();
  for (const node of directives ?? []) {
    const name = node.name.value;
    if (seen.has(name)) refuse(context, node, `@${name} stands more than once on ${where}`, 'Keep one of them.');
    seen.add(name);
    one(context, node, place, where);
  }
}

function refuse(
  { report }: RuleContext,
  node: ConstDirectiveNode | ConstValueNode,
  message: string,
  fix: string,
): void {
  report({ position: position(node.kind === Kind.DIRECTIVE ? node : { loc: node.loc }), message, fix });
}

function one(context: RuleContext, node: ConstDirectiveNode, place: Place, where: string): void {
  const name = node.name.value;
  const peer = Object.hasOwn(PEER_DIRECTIVES, name) ? PEER_DIRECTIVES[name] : undefined;
  if (peer && !context.lax) {
    refuse(context, node, `@${name} is not part of this service`, 'Write a function in the app, or use @custom.');
    return;
  }
  const definition = peer ?? (Object.hasOwn(DIRECTIVES, name) ? DIRECTIVES[name] : undefined);
  // the peer passes over what it does not know
  if (context.lax && (!definition || OWN_DIRECTIVES.has(name))) return;
  if (!definition) {
    const meant = Object.keys(DIRECTIVES).find((each) => levenshteinWithin(each.toLowerCase(), name.toLowerCase(), 2));
    const fix = meant === undefined ? 'Correct its name, or remove it.' : `Write @${meant}.`;
    refuse(context, node, `@${name} on ${where} is not a directive that exists`, fix);
    return;
  }
  if (!definition.places.includes(place)) {
    refuse(
      context,
      node,
      `@${name} cannot stand on ${where}: it applies to ${definition.places.join(', ')}`,
      'Remove it.',
    );
    return;
  }
  const given = new Set<string>();
  for (const { name: argument, value } of node.arguments ?? []) {
    const expected = Object.hasOwn(definition.arguments, argument.value)
      ? definition.arguments[argument.value]
      : undefined;
    const label = `argument ${argument.value} of @${name} on ${where}`;
    if (given.has(argument.value)) {
      refuse(context, value, `the ${label} stands more than once`, 'Keep one of them.');
    }
    given.add(argument.value);
    if (!expected)
      refuse(context, node, `@${name} has no argument ${argument.value} (on ${where})`, example(definition));
    else if (!fits(value, expected.shape)) {
      refuse(context, value, `the ${label} must be ${WORDS[expected.shape]}`, example(definition));
    }
  }
  for (const [argument, { required }] of Object.entries(definition.arguments)) {
    if (required && !given.has(argument)) {
      refuse(context, node, `@${name} on ${where} needs the argument ${argument}`, example(definition));
    }
  }
}

const example = (definition: { readonly example: string }): string => `Write it like ${definition.example}.`;

const WORDS: Readonly<Record<Shape, string>> = {
  string: 'a string',
  boolean: 'true or false',
  strings: 'a list of strings',
  object: 'an object',
  rule: 'a rule object',
  'list-or-string': 'a list',
};

function fits(value: ConstValueNode, shape: Shape): boolean {
  if (shape === 'string') return value.kind === Kind.STRING || value.kind === Kind.ENUM;
  if (shape === 'boolean') return value.kind === Kind.BOOLEAN;
  if (shape === 'strings') return value.kind === Kind.LIST && value.values.every((item) => fits(item, 'string'));
  return true;
}
