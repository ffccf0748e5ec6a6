import type { AppManifest } from './contract.js';

/** What is told of classes whose operations clients see and that the app, once loaded, has not registered: a line for each. */
export function unregistered(manifest: AppManifest, registered: readonly string[]): readonly string[] {
  const operations = new Map<string, string[]>();
  for (const { name, handler } of manifest.operations) {
    if (handler === undefined || registered.includes(handler.type)) continue;
    operations.set(handler.type, [...(operations.get(handler.type) ?? []), name]);
  }
  return [...operations].map(([type, names]) => {
    const fix = 'agents.register(Class), in the file of the class; or take the marks of its handlers away';
    return `no class is registered as agent type "${type}": ${names.join(', ')} will answer AGENT_TYPE_UNKNOWN (${fix})`;
  });
}
