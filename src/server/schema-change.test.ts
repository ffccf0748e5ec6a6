import { describe, expect, it } from 'vitest';
import { schemaChanges } from './schema-change.js';

const BEFORE = `
  type Query { getNote(id: ID!): Note, countNotes: Int! }
  type Note { id: ID!, text: String, old: Int }
  enum Colour { RED, BLUE }
  union Thing = Note
`;

describe('what changed in a schema', () => {
  it('tells operations first, then types, then members, and what became of them', () => {
    const after = `
      type Query { getNote(id: ID!, lang: String): Note, "counts them" findNotes(first: Int = 3): [Note!]! }
      type Note { id: ID!, text: String!, at: DateTime }
      enum Colour { RED, GREEN }
      union Thing = Note | Topic
      type Topic { name: String! }
      scalar DateTime
    `;
    expect(schemaChanges(BEFORE, after)).toEqual([
      '~ Query.getNote(id: ID!): Note -> (id: ID!, lang: String): Note',
      '+ Query.findNotes(first: Int): [Note!]!',
      '- Query.countNotes: Int!',
      '+ type Topic',
      '+ type DateTime',
      '~ Note.text: String -> String!',
      '+ Note.at: DateTime',
      '+ Colour.GREEN',
      '+ Thing.Topic',
      '- Note.old: Int',
      '- Colour.BLUE',
    ]);
  });

  it('tells a type that went in one line, and nothing of descriptions', () => {
    const described = BEFORE.replace('type Note', '"a note" type Note').replace(
      'text: String',
      '"its text" text: String',
    );
    expect(schemaChanges(BEFORE, described)).toEqual([]);
    expect(schemaChanges(BEFORE, BEFORE.replace(/enum .*/, ''))).toEqual(['- type Colour']);
    expect(schemaChanges('', BEFORE)).toContain('+ type Note');
  });

  it('counts what is too much to read', () => {
    const many = Array.from({ length: 40 }, (_, i) => `type T${i} { a: Int }`).join('\n');
    const lines = schemaChanges(BEFORE, BEFORE + many);
    expect([lines.length, lines.at(-1)]).toEqual([13, 'and 28 more']);
  });
});
