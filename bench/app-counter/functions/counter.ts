import { agents } from 'graphstead/app';

export async function startCounter(): Promise<string> {
  return (await agents.start('Counter')).id;
}

export async function updateCounter(id: string, name: string, data?: string): Promise<string> {
  return (await agents.sendMessage(id, name, data)) ?? '';
}
