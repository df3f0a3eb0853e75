import type { Query, QueryClient, QueryKey } from "@tanstack/react-query";

/**
 * Applies live changes to queries that are being fetched, whose responses may not include the change yet. Fetches are
 * not cancelled, because a page may be waiting for them; the change is applied again to their result.
 */
export class Underway {
  readonly #cache: QueryClient;
  readonly #due = new Map<Query, (() => void)[]>();

  constructor(cache: QueryClient) {
    this.#cache = cache;
  }

  /** Change the cached data, and again the result of a fetch in progress. */
  put<Data>(queryKey: QueryKey, change: (read: Data) => Data): void {
    const put = () => {
      this.#cache.setQueryData<Data>(queryKey, (read) => read && change(read));
    };
    put();
    const query = this.#cache.getQueryCache().find({ queryKey, exact: true });
    if (query) this.#afterwards(query, put);
  }

  /** Refetch everything below `queryKey`. A first fetch is not cancelled but repeated when it is done. */
  readAgain(queryKey: QueryKey): void {
    const firsts = this.#cache.getQueryCache().findAll({ queryKey, predicate: ({ state }) => !state.data });
    for (const query of firsts) {
      const again = () => void this.#cache.invalidateQueries({ queryKey: query.queryKey, exact: true });
      this.#afterwards(query, again);
    }
    void this.#cache.invalidateQueries({ queryKey });
  }

  /** Run callbacks in order once the fetch has settled; do nothing if there is none. */
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
    // The query's own handler was registered first, so its data is already updated.
    read.then(settle, settle);
  }
}
