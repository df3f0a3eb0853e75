import { ApiError, http, unwrap } from "@/api/client";
import { serve } from "./server";

const me = () => unwrap(http.GET("/api/v1/me"));

test("a change carries the CSRF token of the cookie, reading does not", async () => {
  // biome-ignore lint/suspicious/noDocumentCookie: what the server would have set
  document.cookie = "forge_csrf=abc%3D1";
  const requests = serve({ "POST /api/v1/logout": {}, "GET /api/v1/me": {} });
  await http.POST("/api/v1/logout");
  await me();
  expect(requests.map((request) => request.headers.get("X-CSRF-Token"))).toEqual(["abc=1", null]);
});

test("a refusal is thrown in the server's words", async () => {
  const error = { code: "conflict", message: "Already answered.", hint: "Reload.", field: "option" };
  serve({ "GET /api/v1/me": { status: 409, errors: [error] } });
  await expect(me()).rejects.toMatchObject({ ...error, status: 409, requestId: "req1" });
});

test("a refusal about a field is told at that field", async () => {
  const error = { code: "invalid", message: "body.name: Too short", hint: null, field: "body.name" };
  serve({ "GET /api/v1/me": { status: 422, errors: [error] } });
  await expect(me()).rejects.toMatchObject({ field: "name", message: "Too short" });
});

test("an answer that is no envelope still explains itself", async () => {
  vi.stubGlobal("fetch", async () => new Response("<h1>Bad Gateway</h1>", { status: 502 }));
  await expect(me()).rejects.toMatchObject({ status: 502, code: "http_502", hint: expect.any(String) });
});

test("a server that is not there is a message with a hint", async () => {
  serve({});
  const error = await me().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 0, message: "Forge did not answer." });
});
