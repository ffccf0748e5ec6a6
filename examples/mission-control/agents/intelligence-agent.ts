import { Agent, agents } from 'graphstead/app';
import { analystName, assess } from './assessment.js';
import { AIAnalysisStarted, MissionCompleted, MissionStarted, SurveillanceProgress, ThreatDetected } from './events.js';

interface MissionState {
  missionName: string;
  phase: 'PLANNING' | 'MONITORING' | 'COMPLETE';
  reports: string[];
  analyzed: number;
  confidence: number;
  assessments: string[];
}

const TOTAL_REPORTS = 5;
const SECONDS_A_REPORT = 60;
/** Reports and assessments that the state keeps: an agent lives long. */
const KEPT = 100;

/** Collects reports of one mission, looks at them in the background, and tells what it sees. */
export class IntelligenceAgent extends Agent<MissionState> {
  static readonly agentName = 'IntelligenceAgent';
  static readonly readOnly = ['get_status', 'intelligence_history'];
  static readonly history = 20;

  override state: MissionState = {
    missionName: '',
    phase: 'PLANNING',
    reports: [],
    analyzed: 0,
    confidence: 0,
    assessments: [],
  };

  override onInitialize(): void {
    this.state.missionName = `Operation ${this.id}`;
  }

  override async onReceiveMessage(name: string, data?: string) {
    switch (name) {
      case 'matrix_surveillance':
        return this.surveil(data);
      case 'background_reconnaissance':
        return this.reconnoitre(data);
      case 'threat_assessment':
        return this.assessThreat();
      case 'get_status':
        return this.status();
      case 'intelligence_history':
        return JSON.stringify(this.state.assessments);
      default:
        return super.onReceiveMessage(name, data);
    }
  }

  /** Takes a report in; the look at it happens in the background, in a message of its own. */
  private async surveil(report = ''): Promise<string> {
    const { state } = this;
    if (state.phase === 'PLANNING') {
      state.phase = 'MONITORING';
      this.publishEvent(new MissionStarted(state.missionName, 'HIGH', report.length));
    }
    state.reports = [...state.reports, report].slice(-KEPT);
    await agents.sendMessageAsync(this.id, 'background_reconnaissance', report);
    return `Report received by ${state.missionName}: ${report.length} characters, ${state.reports.length} report(s) held.`;
  }

  private async reconnoitre(report = ''): Promise<string> {
    const { state } = this;
    const wasComplete = state.phase === 'COMPLETE';
    state.analyzed += 1;
    this.publishEvent(new AIAnalysisStarted(analystName(), report.length, state.analyzed));
    const found = await assess([report]);
    state.confidence = found.confidence;
    if (found.indicators.length > 0) this.publishThreat(found);
    const progress = Math.min(1, state.analyzed / TOTAL_REPORTS);
    if (progress === 1) state.phase = 'COMPLETE';
    this.publishEvent(new SurveillanceProgress(state.phase, progress, state.analyzed, TOTAL_REPORTS));
    if (progress === 1 && !wasComplete) {
      this.publishEvent(new MissionCompleted(state.missionName, state.confidence, state.analyzed));
    }
    return `Report analyzed: ${found.threatLevel}.`;
  }

  private async assessThreat(): Promise<string> {
    const { state } = this;
    this.publishEvent(new AIAnalysisStarted(analystName(), state.reports.join('').length, state.reports.length));
    const found = await assess(state.reports);
    state.assessments = [...state.assessments, found.analysis].slice(-KEPT);
    state.confidence = found.confidence;
    this.publishThreat(found);
    return `${found.analysis} ${found.recommendation}`;
  }

  private publishThreat(found: Awaited<ReturnType<typeof assess>>): void {
    const { threatLevel, confidence, indicators, recommendation, analysis } = found;
    this.publishEvent(new ThreatDetected(threatLevel, confidence, indicators, recommendation, analysis));
  }

  private status(): string {
    const { phase, analyzed } = this.state;
    const remaining = Math.max(0, TOTAL_REPORTS - analyzed);
    return JSON.stringify({
      phase,
      progress: Math.min(1, analyzed / TOTAL_REPORTS),
      current_task: remaining === 0 ? 'Mission complete' : `Waiting for ${remaining} more report(s)`,
      estimated_time_remaining: remaining * SECONDS_A_REPORT,
      is_complete: remaining === 0,
    });
  }
}

agents.register(IntelligenceAgent);
