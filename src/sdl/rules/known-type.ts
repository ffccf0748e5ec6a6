import type { TypeNode } from 'graphql';
import { baseName, type ObjectNode, position } from '../definition.js';
import { isComposite, kindOf } from '../lookup.js';
import { type MeantType, meantType } from '../meant-type.js';
import type { Rule, RuleContext } from '../rule.js';

interface Asked extends RuleContext {
  readonly meant: MeantType;
}

/** Every type that is named exists, and stands where its kind may: inputs in arguments, the others in results. */
export const knownType: Rule = {
  name: 'known-type',
  check(rest) {
    const { definitions } = rest;
    const context: Asked = { ...rest, meant: meantType(definitions) };
    const nodes: ObjectNode[] = [...definitions.objects.values()].map((object) => object.node);
    nodes.push(...definitions.roots.map((root) => root.node));
    for (const node of nodes) {
      for (const field of node.fields ?? []) {
        const where = `${node.name.value}.${field.name.value}`;
        result(context, field.type, where);
        for (const argument of field.arguments ?? []) input(context, argument.type, `${where}(${argument.name.value})`);
      }
    }
    for (const node of definitions.inputs.values()) {
      for (const field of node.fields ?? []) input(context, field.type, `${node.name.value}.${field.name.value}`);
    }
  },
};

function result(context: Asked, type: TypeNode, where: string): void {
  const kind = known(context, type, where);
  if (kind !== 'input') return;
  context.report({
    position: position(type),
    message: `${where} has the input ${baseName(type)} as its type, and inputs cannot be answered`,
    fix: 'Use a type, interface, union, enum or scalar.',
  });
}

function input(context: Asked, type: TypeNode, where: string): void {
  const kind = known(context, type, where);
  if (!isComposite(kind) && !/^(Point|Polygon|MultiPolygon)$/.test(baseName(type))) return;
  context.report({
    position: position(type),
    message: `${where} takes ${baseName(type)}, which is not an input type`,
    fix: 'Use a scalar, an enum or an input.',
  });
}

const GEO_INPUT = /^(Point|Polygon|MultiPolygon|PointList)Ref$/;

function known({ definitions, report, meant }: Asked, type: TypeNode, where: string) {
  const name = baseName(type);
  const kind = kindOf(definitions, name) ?? (GEO_INPUT.test(name) ? 'input' : undefined);
  if (kind === undefined) {
    report({
      position: position(type),
      message: `${where} uses the type ${name}, which is not defined`,
      fix: meant(name) ?? `Define ${name} (with @remote if it is not stored), or correct the name.`,
    });
  }
  return kind;
}
