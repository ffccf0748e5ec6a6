import { models } from 'graphstead/app';

/** What a look at the reports found. */
export interface Assessment {
  readonly threatLevel: 'LOW' | 'MEDIUM' | 'HIGH';
  readonly confidence: number;
  readonly indicators: readonly string[];
  readonly recommendation: string;
  readonly analysis: string;
}

const MODEL = 'analyst';
const SUSPICIOUS = [
  'agent',
  'anomal',
  'attack',
  'breach',
  'detected',
  'encrypted',
  'failed login',
  'glitch',
  'intrusion',
  'malware',
  'suspicious',
  'threat',
  'unauthorized',
  'unknown',
  'unusual',
];
const RECOMMENDATIONS = {
  LOW: 'Continue routine surveillance.',
  MEDIUM: 'Watch the sources closely and report again.',
  HIGH: 'Escalate now and isolate the sources.',
} as const;

/** The model that writes the analysis; the rules below do without one. */
export function analystName(): string {
  return models.has(MODEL) ? MODEL : 'built-in rules';
}

/** Judges the reports by rules; a configured model puts the finding into words. */
export async function assess(reports: readonly string[]): Promise<Assessment> {
  const text = reports.join('\n').toLowerCase();
  const indicators = SUSPICIOUS.filter((word) => text.includes(word));
  const threatLevel = indicators.length === 0 ? 'LOW' : indicators.length < 3 ? 'MEDIUM' : 'HIGH';
  const confidence = Math.min(0.95, 0.5 + 0.1 * indicators.length);
  const analysis = await inWords(reports, threatLevel, indicators);
  return { threatLevel, confidence, indicators, recommendation: RECOMMENDATIONS[threatLevel], analysis };
}

async function inWords(reports: readonly string[], level: string, indicators: readonly string[]): Promise<string> {
  const found = indicators.length === 0 ? 'nothing suspicious' : indicators.join(', ');
  const summary = `Threat level ${level}: ${reports.length} report(s) show ${found}.`;
  if (!models.has(MODEL)) return summary;
  const reply = await models
    .get(MODEL)
    .ask('You are a calm security analyst. Answer in two sentences.', `${summary}\n\n${reports.join('\n')}`);
  return reply.choices[0].message.content ?? summary;
}
