import type { Rule } from '../rule.js';
import { allowedDefinition } from './allowed-definition.js';
import { argumentDefault } from './argument-default.js';
import { auth } from './auth.js';
import { customField } from './custom-field.js';
import { customGraphql } from './custom-graphql.js';
import { customHeader } from './custom-header.js';
import { customShape } from './custom-shape.js';
import { customTemplate } from './custom-template.js';
import { defaultValue } from './default-value.js';
import { embedding } from './embedding.js';
import { federation } from './federation.js';
import { filterWord } from './filter-word.js';
import { generate } from './generate.js';
import { generatedField } from './generated-field.js';
import { generatedName } from './generated-name.js';
import { identifier } from './identifier.js';
import { interfaceField } from './interface-field.js';
import { inverse } from './inverse.js';
import { knownDirective } from './known-directive.js';
import { knownType } from './known-type.js';
import { listDepthRule } from './list-depth.js';
import { mappedName } from './mapped-name.js';
import { password } from './password.js';
import { remoteType } from './remote-type.js';
import { reservedArgument } from './reserved-argument.js';
import { reservedName } from './reserved-name.js';
import { restrict } from './restrict.js';
import { rootField } from './root-field.js';
import { search } from './search.js';
import { sharedPredicate } from './shared-predicate.js';
import { subscription } from './subscription.js';
import { typeContent } from './type-content.js';
import { unionMember } from './union-member.js';
import { uniqueName } from './unique-name.js';

/** Every rule, each of which sees all definitions. */
export const RULES: readonly Rule[] = [
  allowedDefinition,
  uniqueName,
  reservedName,
  reservedArgument,
  generatedName,
  generatedField,
  knownType,
  knownDirective,
  argumentDefault,
  rootField,
  typeContent,
  listDepthRule,
  identifier,
  search,
  filterWord,
  inverse,
  restrict,
  interfaceField,
  unionMember,
  mappedName,
  sharedPredicate,
  password,
  auth,
  generate,
  subscription,
  remoteType,
  defaultValue,
  embedding,
  federation,
  customShape,
  customField,
  customTemplate,
  customGraphql,
  customHeader,
];
