import { agents, graph, models } from 'graphstead/app';
import { Reminder } from '../agents/reminder.js';

/** Exported functions become GraphQL operations: one that changes something is a mutation. */
export async function startReminder(noteId: string, minutes: number): Promise<string> {
  const { id } = await agents.start(Reminder);
  await agents.ref(Reminder, id).remind(noteId, minutes);
  return id;
}

/** The open notes of one topic in a sentence: by the model when it is configured, as a list otherwise. */
export async function getSummary(topic: string): Promise<string> {
  const { queryNote } = await openNotes();
  const texts = queryNote.filter((note) => note.topic?.name === topic).map((note) => note.text);
  if (!models.has('writer')) return texts.join('; ');
  const reply = await models.get('writer').ask('Sum up these notes in one sentence.', texts.join('\n'));
  return reply.choices[0]?.message.content ?? '';
}

interface OpenNotes {
  queryNote: { text: string; topic: { name: string } | null }[];
}

function openNotes(): Promise<OpenNotes> {
  return graph.graphql<OpenNotes>('{ queryNote(filter: { done: false }) { text topic { name } } }');
}
