// What an intelligence agent publishes: `eventName` is the name in the stream, the other fields are its data.

export class MissionStarted {
  readonly eventName = 'mission_started';
  readonly estimatedDuration = '5 reports';
  constructor(
    readonly missionName: string,
    readonly priority: string,
    readonly activityData: number,
  ) {}
}

export class SurveillanceProgress {
  readonly eventName = 'surveillance_progress';
  constructor(
    readonly phase: string,
    readonly progress: number,
    readonly reportsProcessed: number,
    readonly totalReports: number,
  ) {}
}

export class AIAnalysisStarted {
  readonly eventName = 'ai_analysis_started';
  constructor(
    readonly modelName: string,
    readonly contextSize: number,
    readonly reportCount: number,
  ) {}
}

export class ThreatDetected {
  readonly eventName = 'agent_threat_detected';
  constructor(
    readonly threatLevel: string,
    readonly confidence: number,
    readonly indicators: readonly string[],
    readonly recommendation: string,
    readonly analysis: string,
  ) {}
}

export class MissionCompleted {
  readonly eventName = 'mission_completed';
  readonly status = 'COMPLETE';
  constructor(
    readonly missionName: string,
    readonly confidence: number,
    readonly reportsAnalyzed: number,
  ) {}
}
