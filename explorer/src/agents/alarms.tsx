import type { AgentInspection } from '../../../src/agents/info';
import { count, duration, Empty, Scroll, Table } from '../shell/parts';

/** What is set, soonest first. */
export function Alarms({ inspection: { alarms, info } }: { inspection: AgentInspection }) {
  if (alarms.length === 0) {
    return (
      <Empty title="No alarm is set">
        <p>
          Its class sets them: <code>this.setAlarm(Date.now() + 60_000, {"{ name: 'look' }"})</code>
        </p>
      </Empty>
    );
  }
  return (
    <Scroll label="Alarms, soonest first">
      <Table columns={['Alarm', 'Name', 'Rings', 'Every', 'Data', 'Tries']}>
        {alarms.map(({ id, name, at, every, cron, zone, data, attempts }) => (
          <tr key={id}>
            <th scope="row">{id}</th>
            <td>{name}</td>
            <td>{new Date(at).toLocaleString()}</td>
            <td>{every === undefined ? (cron === undefined ? 'once' : `${cron}, ${zone}`) : duration(every)}</td>
            <td className="wrap">
              <code>{data}</code>
            </td>
            <td>{attempts}</td>
          </tr>
        ))}
      </Table>
      {info.alarms > alarms.length && <p className="uid">and {count(info.alarms - alarms.length, 'other')}</p>}
    </Scroll>
  );
}
