import type { SubscriptionEvent } from '../api/index.js';
import { onceFor } from '../base/index.js';

/** What an event says is one text for all that share it. */
export const payloadOf = onceFor(({ body }: SubscriptionEvent) => body.toString('utf8'));
