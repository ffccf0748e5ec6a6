// The counter of bench/app-counter as a Durable Object. The runtime holds a reply back until what was put is on disk.

export class Counter {
  #storage;
  #count;

  constructor(state) {
    this.#storage = state.storage;
  }

  async fetch(request) {
    this.#count ??= (await this.#storage.get('count')) ?? 0;
    if (new URL(request.url).pathname !== '/start') this.#count += 1;
    this.#storage.put('count', this.#count);
    return new Response(String(this.#count));
  }
}

/** POST /start gives a new id; POST /ID counts. */
export default {
  async fetch(request, { counters }) {
    const name = new URL(request.url).pathname.slice(1);
    const id = name === 'start' ? counters.newUniqueId() : counters.idFromString(name);
    const reply = await counters.get(id).fetch(request);
    return new Response(name === 'start' ? id.toString() : await reply.text());
  },
};
