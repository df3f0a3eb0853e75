import type { Query, QueryClient, QueryKey } from "@tanstack/react-query";

/**
 * Reads that are under way: what happens meanwhile may be missing from what they bring. They are let be, for a page
 * may wait for them; what is to be done about it is done to their result.
 */
export class Underway {
  readonly #cache: QueryClient;
  readonly #due = new Map<Query, (() => void)[]>();

  constructor(cache: QueryClient) {
    this.#cache = cache;
  }

  /** Change what was read, and also what is being read. */
  put<Data>(queryKey: QueryKey, change: (read: Data) => Data): void {
    const put = () => {
      this.#cache.setQueryData<Data>(queryKey, (read) => read && change(read));
    };
    put();
    const query = this.#cache.getQueryCache().find({ queryKey, exact: true });
    if (query) this.#afterwards(query, put);
  }

  /** Read everything again that begins with `queryKey`. A first read is not cut short: it is followed by another. */
  readAgain(queryKey: QueryKey): void {
    const firsts = this.#cache.getQueryCache().findAll({ queryKey, predicate: ({ state }) => !state.data });
    for (const query of firsts) {
      const again = () => void this.#cache.invalidateQueries({ queryKey: query.queryKey, exact: true });
      this.#afterwards(query, again);
    }
    void this.#cache.invalidateQueries({ queryKey });
  }

  /** In the order in which it happened, once its read has ended; not at all when there is none. */
  #afterwards(query: Query, then: () => void): void {
    const read = query.state.fetchStatus === "idle" ? undefined : query.promise;
    if (!read) return;
    const known = this.#due.get(query);
    if (known) return void known.push(then);
    const due = [then];
    this.#due.set(query, due);
    const settle = () => {
      this.#due.delete(query);
      for (const one of due) one();
    };
    // The query itself was first to wait for it, so by then it has what was read.
    read.then(settle, settle);
  }
}
