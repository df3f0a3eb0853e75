/** The HTTP side of a test: answers by method and path, in the API's envelope; requests are kept. */
type Reply = { status?: number; data?: unknown; errors?: object[]; cursor?: string | null };

export function serve(replies: Record<string, Reply | (() => Reply | Promise<Reply>)>): Request[] {
  const requests: Request[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    requests.push(request);
    const wanted = replies[`${request.method} ${new URL(request.url).pathname}`];
    if (!wanted) throw new TypeError("Failed to fetch");
    const {
      status = 200,
      data = null,
      errors = [],
      cursor = null,
    } = typeof wanted === "function" ? await wanted() : wanted;
    const meta = { request_id: "req1", timestamp: "", response_time_ms: 1, next_cursor: cursor };
    return Response.json({ data, meta, errors, _links: {} }, { status });
  });
  return requests;
}

/** A reply that comes when the test says so. */
export function held(): { reply: () => Promise<Reply>; answer: (reply: Reply) => void } {
  let answer: (reply: Reply) => void = () => undefined;
  const promise = new Promise<Reply>((resolve) => {
    answer = resolve;
  });
  return { reply: () => promise, answer };
}
