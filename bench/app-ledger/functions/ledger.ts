import { agents } from 'graphstead/app';

export async function startLedger(): Promise<string> {
  return (await agents.start('Ledger')).id;
}

/** The number of this client's notes so far. */
export async function addNote(id: string, client: string, to: string): Promise<string> {
  return (await agents.sendMessage(id, 'note', JSON.stringify({ client, to }))) ?? '';
}

export async function addPlain(id: string): Promise<string> {
  return (await agents.sendMessage(id, 'plain')) ?? '';
}

export async function addMail(id: string): Promise<void> {
  await agents.sendMessageAsync(id, 'mailed');
}

export async function showLedger(id: string): Promise<string> {
  return (await agents.sendMessage(id, 'show')) ?? '';
}

export async function countDeadLetters(id: string): Promise<number> {
  return (await agents.deadLetters(id)).length;
}
