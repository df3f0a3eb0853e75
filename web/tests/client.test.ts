import { ApiError, http, unwrap } from "@/api/client";
import { serve } from "./server";

const me = () => unwrap(http.GET("/api/v1/me"));

test("changes send the CSRF token, reads do not", async () => {
  // biome-ignore lint/suspicious/noDocumentCookie: what the server would have set
  document.cookie = "forge_csrf=abc%3D1";
  const requests = serve({ "POST /api/v1/logout": {}, "GET /api/v1/me": {} });
  await http.POST("/api/v1/logout");
  await me();
  expect(requests.map((request) => request.headers.get("X-CSRF-Token"))).toEqual(["abc=1", null]);
});

test("an error is thrown with the server's message", async () => {
  const error = { code: "conflict", message: "Already answered.", hint: "Reload.", field: "option" };
  serve({ "GET /api/v1/me": { status: 409, errors: [error] } });
  await expect(me()).rejects.toMatchObject({ ...error, status: 409, requestId: "req1" });
});

test("an error of a field names the field", async () => {
  const error = { code: "invalid", message: "body.name: Too short", hint: null, field: "body.name" };
  serve({ "GET /api/v1/me": { status: 422, errors: [error] } });
  await expect(me()).rejects.toMatchObject({ field: "name", message: "Too short" });
});

test("a response without an envelope gets an explanation", async () => {
  vi.stubGlobal("fetch", async () => new Response("<h1>Bad Gateway</h1>", { status: 502 }));
  await expect(me()).rejects.toMatchObject({ status: 502, code: "http_502", hint: expect.any(String) });
});

test("an unreachable server gets a message with a hint", async () => {
  serve({});
  const error = await me().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 0, message: "Forge did not answer." });
});
