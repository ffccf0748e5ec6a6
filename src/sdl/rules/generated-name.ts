import { position } from '../definition.js';
import { isRemote, isRemoteName } from '../lookup.js';
import type { Rule } from '../rule.js';

/** Types that stand in every generated schema. */
const BUILT_IN: readonly string[] = [
  ...['Int', 'Float', 'Int64', 'DateTime', 'String'].map((name) => `${name}Range`),
  ...['Int', 'Int64', 'Float', 'DateTime', 'StringTerm', 'StringRegExp', 'StringNgram', 'StringFullText'].map(
    (name) => `${name}Filter`,
  ),
  ...['StringExact', 'StringHash', 'PointGeo', 'PolygonGeo', 'Near', 'Within', 'Contains', 'Intersects'].map(
    (name) => `${name}Filter`,
  ),
  ...['Point', 'PointList', 'Polygon', 'MultiPolygon'].map((name) => `${name}Ref`),
  'DgraphIndex',
  'DgraphDefault',
  'AuthRule',
  'HTTPMethod',
  'Mode',
  'CustomHTTP',
  'GenerateQueryParams',
  'GenerateMutationParams',
  '_Any',
  '_Entity',
  '_FieldSet',
  '_Service',
];

/** Types that are generated for a stored type. */
const generatedTypes = (name: string): string[] => [
  `${name}Filter`,
  `${name}Order`,
  `${name}Orderable`,
  `${name}HasFilter`,
  `${name}Ref`,
  `${name}Patch`,
  `${name}AggregateResult`,
  `Add${name}Input`,
  `Update${name}Input`,
  `Add${name}Payload`,
  `Update${name}Payload`,
  `Delete${name}Payload`,
  `${name}Embedding`,
];

/** Types that the default mode alone generates for a stored type, and those of them for a union. */
const ours = (name: string): string[] => [`${name}Nested`, `${name}Cascade`, ...oursOfUnion(name)];
const oursOfUnion = (name: string): string[] => [`${name}NestedUpdate`, `${name}CascadeStep`];

/** A type's name must not be one that is generated for another type. */
export const generatedName: Rule = {
  name: 'generated-name',
  check({ definitions, report, lax }) {
    const taken = new Map(BUILT_IN.map((name) => [name, 'the service itself']));
    for (const object of definitions.objects.values()) {
      if (isRemote(object)) continue;
      const names = [...generatedTypes(object.name), ...(lax ? [] : ours(object.name))];
      for (const name of names) taken.set(name, object.name);
    }
    for (const name of definitions.unions.keys()) {
      for (const suffix of ['Filter', 'Ref', 'Type']) taken.set(`${name}${suffix}`, name);
      for (const step of lax || isRemoteName(definitions, name) ? [] : oursOfUnion(name)) taken.set(step, name);
    }
    for (const name of definitions.enums.keys()) {
      for (const suffix of ['_hash', '_exact', '_range']) taken.set(`${name}${suffix}`, name);
    }
    for (const node of definitions.document.definitions) {
      if (!('name' in node) || !node.name) continue;
      const owner = taken.get(node.name.value);
      if (owner === undefined) continue;
      report({
        position: position({ name: node.name }),
        message: `${node.name.value} is a reserved word: a type of this name is generated for ${owner}`,
        fix: 'Pick another name.',
      });
    }
  },
};
