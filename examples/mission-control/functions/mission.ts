import { agents, type Int, models } from 'graphstead/app';

/** How far a mission is. */
export interface MissionStatus {
  phase: string;
  /** 0 to 1 */
  progress: number;
  currentTask: string;
  /** seconds */
  estimatedTimeRemaining: Int;
  isComplete: boolean;
}

/** Starts an intelligence agent; gives its id. */
export async function deployAgent(): Promise<string> {
  const agent = await agents.start('IntelligenceAgent');
  return agent.id;
}

/** Hands a report to an agent; gives its answer. */
export async function importActivity(agentId?: string | null, activityData?: string | null): Promise<string> {
  if (agentId && !activityData) throw new Error('activityData is missing: give the report to hand over');
  return ask(agentId, 'matrix_surveillance', activityData);
}

/** Asks an agent for its view of everything reported so far. */
export async function getThreatStatus(agentId?: string | null): Promise<string> {
  return ask(agentId, 'threat_assessment');
}

/** How far the agent's mission is. */
export async function checkMissionProgress(agentId?: string | null): Promise<MissionStatus> {
  const status = JSON.parse(await ask(agentId, 'get_status'));
  return {
    phase: status.phase,
    progress: status.progress,
    currentTask: status.current_task,
    estimatedTimeRemaining: status.estimated_time_remaining,
    isComplete: status.is_complete,
  };
}

/** Says whether the model answers; without a configured model the agents go by their own rules. */
export async function testConnection(): Promise<string> {
  if (!models.has('analyst')) return 'No model is configured: set APP_ANALYSIS_API_KEY to use one.';
  const reply = await models.get('analyst').ask('Answer with one word.', 'Are you there?');
  return reply.choices[0].message.content ?? '';
}

/** A message that has to be answered. */
async function ask(agentId: string | null | undefined, name: string, data?: string | null): Promise<string> {
  if (!agentId) throw new Error('agentId is missing: give the id that deployAgent returned');
  const reply = await agents.sendMessage(agentId, name, data);
  if (reply === null) throw new Error(`agent ${agentId} gave no reply to ${name}`);
  return reply;
}
