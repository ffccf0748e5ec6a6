import { type ConstDirectiveNode, Kind } from 'graphql';
import {
  argument,
  baseName,
  directive,
  type FieldDefinition,
  listDepth,
  member,
  type ObjectDefinition,
  position,
  text,
} from '../definition.js';
import { isRemote, kindOf } from '../lookup.js';
import type { Rule, RuleContext } from '../rule.js';
import { isInt64, isTime, isWhole } from '../scalar.js';

/** @default gives one value that the field's type can hold, as text; "$now" is the time of the request. */
export const defaultValue: Rule = {
  name: 'default-value',
  check(context) {
    for (const object of context.definitions.objects.values()) {
      for (const field of object.own) {
        const node = directive(field.node, 'default');
        if (node) one(context, object, field, node);
      }
    }
  },
};

function one(context: RuleContext, object: ObjectDefinition, field: FieldDefinition, node: ConstDirectiveNode): void {
  const where = `${object.name}.${field.name}`;
  const refuse = (message: string, fix: string): void =>
    context.report({ position: position(node), message: `@default on ${where}: ${message}`, fix });
  const type = baseName(field.node.type);
  const kind = kindOf(context.definitions, type);
  const other = directive(field.node, 'custom', 'lambda', 'id');
  if (isRemote(object)) refuse('the type is remote, nothing is stored', 'Remove @default.');
  if (other) refuse(`it cannot stand with @${other.name.value}`, `Remove one of them.`);
  if (listDepth(field.node.type) > 0) refuse('a list takes no default', 'Remove @default.');
  else if (!isPlain(type, kind))
    refuse(`${type} takes no default, only single scalars and enums do`, 'Remove @default.');
  else if (!argument(node, 'add') && !argument(node, 'update'))
    refuse('it gives no value', 'Write @default(add: {value: "..."}), with update, or with both.');
  else for (const action of ['add', 'update']) check(context, refuse, node, action, type);
}

const isPlain = (type: string, kind: string | undefined): boolean =>
  kind === 'enum' || (kind === 'scalar' && !/^(ID|Point|Polygon|MultiPolygon)$/.test(type));

function check(
  context: RuleContext,
  refuse: (message: string, fix: string) => void,
  node: ConstDirectiveNode,
  action: string,
  type: string,
): void {
  const given = argument(node, action);
  if (!given) return;
  const value = member(given, 'value');
  const only = given.kind === Kind.OBJECT && given.fields.every((f) => f.name.value === 'value');
  const written = text(value);
  if (written === undefined || !only) {
    refuse(`${action} needs a value, written as a string`, `Write @default(${action}: {value: "..."}).`);
  } else if (!holds(context, type, written)) {
    refuse(`"${written}" is not a value of ${type}`, example(context, type));
  }
}

function holds({ definitions }: RuleContext, type: string, value: string): boolean {
  const enumeration = definitions.enums.get(type);
  if (enumeration) return enumeration.values?.some((v) => v.name.value === value) === true;
  if (type === 'DateTime') return value === '$now' || isDateTime(value);
  if (value === '$now') return false;
  if (type === 'Boolean') return value === 'true' || value === 'false';
  if (type === 'Float') return value.trim() !== '' && Number.isFinite(Number(value));
  if (type === 'Int') return isWhole(value, -(2n ** 31n), 2n ** 31n - 1n);
  if (type === 'Int64') return isInt64(value);
  return true;
}

const isDateTime = (value: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value) && isTime(value);

function example({ definitions }: RuleContext, type: string): string {
  const values = definitions.enums.get(type)?.values?.map((v) => v.name.value);
  if (values) return `Use one of ${values.join(', ')}.`;
  if (type === 'DateTime') return 'Use "$now" or a time like "2024-01-31T12:00:00Z".';
  return `Use a value that ${type} can hold; "$now" is for DateTime.`;
}
