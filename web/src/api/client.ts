/** The HTTP client: typed by the schema, sends the CSRF token with every change, throws `ApiError`. */
import createFetch from "openapi-fetch";
import type { paths } from "./schema.gen";

type ErrorBody = {
  code: string;
  message: string;
  hint?: string | null;
  field?: string | null;
  detail?: unknown;
};
export type Envelope<T> = { data: T; meta: { next_cursor?: string | null } };
export type Answer<Body> = { data?: Body; error?: unknown; response: Response };

/** An error response from the server, with its message and hint. */
export class ApiError extends Error {
  override readonly name = "ApiError";

  readonly status: number;
  readonly code: string;
  readonly hint: string | null;
  /** The form field that the message refers to, if any. */
  readonly field: string | null;
  /** Structured data about the error, such as the current state in a conflict. */
  readonly detail: unknown;
  readonly requestId: string | null;

  /** The server names a field by its path (`body.name`); forms know it by its last part (`name`). */
  constructor(status: number, body: ErrorBody, requestId: string | null = null) {
    const way = body.field ?? null;
    super(way === null ? body.message : body.message.replace(`${way}: `, ""));
    this.status = status;
    this.code = body.code;
    this.hint = body.hint ?? null;
    this.field = way?.split(".").at(-1) ?? null;
    this.detail = body.detail ?? null;
    this.requestId = requestId;
  }
}

export const http = createFetch<paths>({
  baseUrl: window.location.origin,
  fetch: (request) => fetch(request),
});

http.use({
  onRequest({ request }) {
    if (request.method !== "GET") request.headers.set("X-CSRF-Token", readCookie("forge_csrf"));
  },
  onError({ error }) {
    if (error instanceof DOMException && error.name === "AbortError") return undefined;
    return new ApiError(0, {
      code: "unreachable",
      message: "Forge did not answer.",
      hint: "Check that `forge serve` is running and that this machine can reach it.",
    });
  },
});

/** Return the `data` of a response, or throw the first of its errors. */
export async function unwrap<T>(call: Promise<Answer<Envelope<T>>>): Promise<T> {
  return (await accepted(call)).data;
}

export type Page<T> = { items: T[]; nextCursor: string | null };

/** Return one page of a list and the cursor of the next. */
export async function unwrapPage<T>(call: Promise<Answer<Envelope<T[]>>>): Promise<Page<T>> {
  const { data, meta } = await accepted(call);
  return { items: data, nextCursor: meta.next_cursor ?? null };
}

/** Return the body of a successful response, or throw. */
export async function accepted<Body>(call: Promise<Answer<Body>>): Promise<Body> {
  const { data, error, response } = await call;
  if (!response.ok) throw toApiError(response, error);
  return data as Body;
}

function toApiError(response: Response, body: unknown): ApiError {
  const failure = (typeof body === "object" && body !== null ? body : {}) as {
    errors?: ErrorBody[];
    meta?: { request_id?: string };
  };
  const unexplained: ErrorBody = {
    code: `http_${response.status}`,
    message: `The server answered ${response.status} without an explanation.`,
    hint: "A proxy may have answered instead. Try again, or check the server log.",
  };
  return new ApiError(response.status, failure.errors?.[0] ?? unexplained, failure.meta?.request_id ?? null);
}

function readCookie(name: string): string {
  const found = document.cookie.split("; ").find((pair) => pair.startsWith(`${name}=`));
  return found ? decodeURIComponent(found.slice(name.length + 1)) : "";
}
