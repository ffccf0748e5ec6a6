import { Kind, type ValueNode } from 'graphql';
import { readCustom } from '../custom.js';
import { type CustomSite, customSites, refusedName } from '../custom-site.js';
import { baseName, directive, listDepth } from '../definition.js';
import { isIdType, kindOf } from '../lookup.js';
import type { RemoteOperation } from '../model.js';
import type { Rule, RuleContext } from '../rule.js';

/** What a graphql text sends exists here: variables are declared, and stand for arguments or stored fields. */
export const customGraphql: Rule = {
  name: 'custom-graphql',
  check(context) {
    for (const site of customSites(context.definitions)) {
      const custom = readCustom(site.node, site.where, () => {});
      const graphql = custom?.kind === 'http' ? custom.http.graphql : undefined;
      if (custom?.kind !== 'http' || !graphql) continue;
      declared(context, site, graphql);
      if (custom.http.method !== 'POST') {
        refuse(context, site, graphql, `graphql is sent by POST, not by ${custom.http.method}`, 'Write method: POST.');
      }
      if (custom.http.mode === 'BATCH') batch(context, site, graphql);
      else variables(context, site, graphql);
    }
  },
};

function refuse(
  { report }: RuleContext,
  site: CustomSite,
  graphql: RemoteOperation,
  message: string,
  fix: string,
): void {
  report({ position: graphql.position, message: `@custom on ${site.where}: ${message}`, fix });
}

/** Variables inside an argument's value, at any depth. */
function inside(value: ValueNode): string[] {
  if (value.kind === Kind.VARIABLE) return [value.name.value];
  if (value.kind === Kind.LIST) return value.values.flatMap(inside);
  return value.kind === Kind.OBJECT ? value.fields.flatMap((f) => inside(f.value)) : [];
}

function declared(context: RuleContext, site: CustomSite, graphql: RemoteOperation): void {
  const names = new Set(graphql.variables.map((v) => v.name));
  const [field] = graphql.operation.selectionSet.selections;
  const values = field.kind === Kind.FIELD ? (field.arguments ?? []).map((a) => a.value) : [];
  for (const name of new Set(values.flatMap(inside))) {
    if (names.has(name)) continue;
    refuse(context, site, graphql, `graphql uses $${name} without declaring it`, `Declare it: query($${name}: ...).`);
  }
  const used = new Set(values.flatMap(inside));
  for (const name of names) {
    if (used.has(name)) continue;
    refuse(context, site, graphql, `graphql declares $${name} and does not use it`, 'Remove it, or send it.');
  }
}

function batch(context: RuleContext, site: CustomSite, graphql: RemoteOperation): void {
  const [variable] = graphql.variables;
  const sent = graphql.arguments.length === 1 && graphql.arguments[0].variable === variable?.name;
  if (sent && graphql.variables.length === 1 && listDepth(variable.type) > 0) return;
  refuse(
    context,
    site,
    graphql,
    'BATCH sends one list, so graphql needs one variable of a list type',
    'Write it like "query($input: [UserInput]) { users(input: $input) }".',
  );
}

function variables(context: RuleContext, site: CustomSite, graphql: RemoteOperation): void {
  let names = false;
  for (const { name } of graphql.variables) {
    const refused = refusedName(site, name, 'graphql');
    if (refused) refuse(context, site, graphql, ...refused);
    const field = site.names.get(name)?.field;
    if (!field) continue;
    names ||= isIdType(field.node.type) || directive(field.node, 'id') !== undefined;
    const kind = kindOf(context.definitions, baseName(field.node.type));
    if (kind === 'scalar' || kind === 'enum' || kind === undefined) continue;
    refuse(
      context,
      site,
      graphql,
      `graphql uses $${name}, which is not a scalar but of type ${baseName(field.node.type)}`,
      'Use scalars.',
    );
  }
  if (!context.lax || !site.object || names) return;
  refuse(
    context,
    site,
    graphql,
    'graphql uses no field of type ID and none with @id',
    'Send the field that names the node.',
  );
}
