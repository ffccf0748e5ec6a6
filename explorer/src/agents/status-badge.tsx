import { Badge } from '../shell/parts';

export function StatusBadge({ status }: { status: string }) {
  const tone =
    status === 'running' ? 'good' : status === 'terminated' ? 'plain' : status === 'suspended' ? 'accent' : 'warn';
  return <Badge tone={tone}>{status}</Badge>;
}
