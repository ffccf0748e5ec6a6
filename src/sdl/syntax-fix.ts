/** What is written otherwise in other languages of types, by what graphql-js says where it stops. */
const FIXES: readonly (readonly [reason: RegExp, fix: string])[] = [
  [/Unexpected character: "\/"/, 'Write comments with #.'],
  [/Unexpected character: ";"/, 'Take it away: a line needs no sign at its end.'],
  [/Unexpected character: "\?"/, 'Take it away: a field may be null unless its type ends in "!".'],
  [/Unexpected character: "<"|found "\["/, 'Write lists as [String].'],
  [/found "="/, 'Write the value of a new field as @default(add: {value: "..."}); values of enums are names alone.'],
  [/found "\|"/, 'Define a union, as in union Found = Book | Writer, and use its name.'],
  [/Expected Name, found "}"/, 'Put something between the braces, or take both away.'],
  [/found <EOF>/, 'Close what is open: "}" behind fields, ")" behind arguments, quotes behind a text.'],
  [/Unexpected Name "(implement|extends)"/, 'Write implements.'],
  [/Expected ":", found Name/, 'Write a colon between name and type: name: String.'],
  [/found String/, 'Write a quote inside a text as \\", or the text between """.'],
  [/Invalid number/, 'Names hold letters, digits and _, and begin with no digit.'],
  [/Unexpected Name/, 'Begin definitions with type, interface, union, enum, input or extend type.'],
];

/** What to do about a text that cannot be parsed. */
export function syntaxFix(reason: string): string {
  return FIXES.find(([known]) => known.test(reason))?.[1] ?? 'Correct the syntax at this place.';
}
