import { tokenIn } from "@/features/login/token";
import { readSearch } from "@/features/runs/search";
import { formatBytes } from "@/ui/bytes";
import { toProblem } from "@/ui/problem";
import { formatAgo, formatDuration, formatElapsed } from "@/ui/time";

test.each([
  [-5, "0ms"],
  [320, "320ms"],
  [4280, "4.2s"],
  [41_900, "41s"],
  [365_000, "6m 05s"],
  [8_040_000, "2h 14m"],
  [273_600_000, "3d 4h"],
])("%i ms is %s", (ms, words) => {
  expect(formatDuration(ms)).toBe(words);
});

test("what is still going counts in whole seconds", () => {
  expect([-100, 900, 4280, 61_000].map(formatElapsed)).toEqual(["0s", "0s", "4s", "1m 01s"]);
});

test("the past is told the shorter the longer ago it is", () => {
  const now = Date.UTC(2026, 10, 15, 12);
  const ago = (ms: number) => formatAgo(new Date(now - ms).toISOString(), now);
  expect([0, 240_000, 7_200_000, 260_000_000].map(ago)).toEqual(["just now", "4m ago", "2h ago", "3d ago"]);
  expect(ago(90 * 86_400_000)).toContain("2026");
});

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1_440_000, "1.4 MB"],
])("%i bytes are %s", (bytes, words) => {
  expect(formatBytes(bytes)).toBe(words);
});

test.each([
  ["abc-123", "abc-123"],
  ["  http://127.0.0.1:8000/login#token=abc-123\n", "abc-123"],
  ["/login#token=abc-123", "abc-123"],
  ["token=abc-123", "abc-123"],
  ["", ""],
])("the token in %j is %j", (pasted, token) => {
  expect(tokenIn(pasted)).toBe(token);
});

test("an address that was typed by hand never breaks the list", () => {
  expect(readSearch({ status: "running", kind: "audit" })).toEqual({ status: "running", kind: "audit" });
  expect(readSearch({ status: "toString", kind: 7, other: "x" })).toEqual({});
});

test.each([[new Error("Boom")], [{ message: "Boom" }], ["Boom"]])("%j is told as a message", (thrown) => {
  expect(toProblem(thrown)).toMatchObject({ message: "Boom", hint: null });
});

test("the details hold what a helper needs, and nothing empty", () => {
  const { details } = toProblem({ message: "No.", hint: "Wait.", code: "busy", requestId: "req1" });
  expect(details.split("\n").map((line) => line.split(":")[0])).toEqual([
    "message",
    "hint",
    "code",
    "request",
    "page",
    "time",
    "browser",
  ]);
});
