import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { asError, compiled } from '../../base/index.js';
import { holdsStore } from '../holds-store.js';
import { bad, type Finding, good } from './finding.js';

/** Reads the store, of the directory or of a database, in a child process, beside a service that may be running. */
export async function checkStore(data: string, store?: string): Promise<readonly Finding[]> {
  try {
    if (store === undefined && !holdsStore(data)) return [good('store', `${data} holds no store yet`)];
  } catch (error) {
    const { message, fix } = asError(error);
    return [bad('store', message, fix)];
  }
  const program = fileURLToPath(compiled('cli/doctor/store-child'));
  const env = { ...process.env, GRAPHSTEAD_STORE: store ?? '' };
  const child = spawn(process.execPath, [program, data], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
    child.on('close', (...end) => resolve(end));
  });
  const findings = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Finding);
  if (code === 0) return findings;
  const how = signal ? `the reading was ended by ${signal}` : `the reading failed: ${stderr.trim().split('\n').at(-1)}`;
  return [...findings, bad('store', `${how}: the file is damaged`, 'keep it, and restore the last backup')];
}
