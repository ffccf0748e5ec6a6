import {
  argument,
  baseName,
  directive,
  type FieldDefinition,
  type ObjectDefinition,
  position,
  text,
} from '../definition.js';
import { isCustom, isRemote, isRemoteName } from '../lookup.js';
import type { Rule, RuleContext } from '../rule.js';

/** Directives that say how a field is stored, which a remote type's fields are not. */
const STORED_ONLY = ['hasInverse', 'search', 'dgraph', 'service', 'embedding'];

/** Directives on a type that act where its nodes are read or written. */
const STORED_TYPES_ONLY = {
  auth: 'rules are checked in the store',
  lambdaOnMutate: 'mutations of the store call it',
} as const;

/** Remote types come from custom logic alone: they are not stored, and a stored type reaches them by @custom only. */
export const remoteType: Rule = {
  name: 'remote-type',
  check(context) {
    for (const object of context.definitions.objects.values()) {
      if (isRemote(object)) remote(context, object);
      else stored(context, object);
    }
  },
};

function remote({ definitions, report }: RuleContext, object: ObjectDefinition): void {
  for (const name of object.interfaces) {
    const parent = definitions.objects.get(name);
    if (!parent || isRemote(parent)) continue;
    report({
      position: position(object.node),
      message: `${object.name} is remote but implements ${name}, whose nodes are stored`,
      fix: `Mark ${name} with @remote, or store ${object.name}.`,
    });
  }
  for (const [name, why] of Object.entries(STORED_TYPES_ONLY)) {
    if (!directive(object, name)) continue;
    report({
      position: position(object.node),
      message: `${object.name} has both @${name} and @remote: ${why}, and it is not stored`,
      fix: 'Remove one of them.',
    });
  }
  for (const field of object.own) {
    const response = directive(field.node, 'remoteResponse');
    if (response && text(argument(response, 'name')) === '') {
      report({
        position: position(response),
        message: `@remoteResponse on ${object.name}.${field.name} names no key of the reply`,
        fix: 'Write @remoteResponse(name: "full_name").',
      });
    }
    const custom = directive(field.node, 'custom', 'lambda');
    if (custom) {
      report({
        position: position(custom),
        message: `@${custom.name.value} on ${object.name}.${field.name}: a remote type's fields come with the remote's reply`,
        fix: 'Remove it, or remove @remote from the type.',
      });
    }
    for (const name of STORED_ONLY) {
      const node = directive(field.node, name);
      if (!node) continue;
      report({
        position: position(node),
        message: `@${name} on ${object.name}.${field.name} has no meaning: the type is remote and not stored`,
        fix: 'Remove it.',
      });
    }
  }
}

function stored(context: RuleContext, object: ObjectDefinition): void {
  const { definitions, report } = context;
  for (const name of object.interfaces) {
    const parent = definitions.objects.get(name);
    if (!parent || !isRemote(parent)) continue;
    report({
      position: position(object.node),
      message: `${object.name} is stored but implements ${name}, which is remote`,
      fix: `Mark ${object.name} with @remote, or store ${name}.`,
    });
  }
  for (const field of object.own) storedField(context, object, field);
}

function storedField({ definitions, report }: RuleContext, object: ObjectDefinition, field: FieldDefinition): void {
  const response = directive(field.node, 'remoteResponse');
  if (response) {
    report({
      position: position(response),
      message: `@remoteResponse on ${object.name}.${field.name}: it stands in remote types only`,
      fix: 'Remove it, or mark the type with @remote.',
    });
  }
  const target = baseName(field.node.type);
  if (!isRemoteName(definitions, target) || isCustom(field)) return;
  report({
    position: position(field.node),
    message: `${object.name}.${field.name} is of the remote type ${target}, which cannot be stored`,
    fix: 'Resolve the field with @custom, or remove @remote from the type.',
  });
}
