import type { ChatMessage, ContentPart, SentMessage } from './chat.js';
import type { SpokenMessage } from './info.js';

/** messages of one call that are shown: its first and the last ones */
const SHOWN = 8;
/** characters of one message that are shown */
const SHOWN_CHARS = 3_000;

/** What was said in a call of a model, cut so that a record stays small. */
export function transcript(asked: readonly SentMessage[], answered?: ChatMessage): readonly SpokenMessage[] {
  const all = answered === undefined ? asked : [...asked, answered];
  const shown = all.length <= SHOWN ? all : [all[0], ...all.slice(all.length - SHOWN + 1)];
  return shown.map(({ role, content, tool_calls: tools }) => {
    const said = typeof content === 'string' ? content : content?.map(shownPart).join('\n');
    const text = said ?? (tools ?? []).map((tool) => `${tool.function.name}(${tool.function.arguments})`).join('\n');
    return { role, text: text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)}…` };
  });
}

/** Of what is no text only that it was there: it may be an image of megabytes. */
function shownPart(part: ContentPart): string {
  return part.type === 'text' ? part.text : `(${part.type})`;
}
