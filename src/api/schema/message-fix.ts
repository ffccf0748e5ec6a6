/**
 * What to do about mistakes of a document or of its variables, by graphql-js's own message: of those here the schema says no more
 * (see withFixes for the others).
 */
const FIXES: readonly (readonly [message: RegExp, fix: string])[] = [
  [/^Syntax Error/, 'Correct the document at this place.'],
  [/^Unknown type/, 'Name a type of the schema: { __schema { types { name } } } lists them.'],
  [/must have a selection of subfields/, 'Write the fields that are wanted behind it, in braces.'],
  [/cannot represent|got invalid value/, 'Give a value of that type.'],
  [/^Unknown fragment/, 'Define it in the document, or take its spread away.'],
  [/within itself/, 'Take one of the spreads away that lead back to it.'],
  [
    /can never be of type|cannot condition on/,
    'Write it on an object, an interface or a union that stands at this place.',
  ],
  [/There can be only one|can only be used once/, 'Keep one of them, or give each a name of its own.'],
  [/anonymous operation must be the only/, 'Name each operation, and choose one with operationName.'],
  [/conflict because/, 'Give each of them an alias of its own.'],
  [/may not be used on/, 'Take it away, or put it on a field.'],
  [/cannot be non-input type/, 'Declare it with a scalar, an enum or an input type.'],
  [/must not be null|found null|was not provided/, 'Give a value for it.'],
  [
    /must (select only one|not select an introspection)/,
    'Subscribe to one field, and to others by operations of their own.',
  ],
  [/definition is not executable/, 'Send type definitions to POST /admin/schema.'],
];

const OTHER = 'Correct this by the schema that is served, which introspection shows.';

export function fixOfMessage(message: string): string {
  return FIXES.find(([pattern]) => pattern.test(message))?.[1] ?? OTHER;
}
