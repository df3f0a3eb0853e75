import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { LiveClient } from "@/api/live";
import { LiveContext } from "@/api/liveContext";
import type { Interview } from "@/api/types";
import { createWord, madeWords } from "@/features/forge/review/words";
import { follow, opened, type Told } from "@/features/forge/session/follow";
import { useInterview } from "@/features/forge/session/useInterview";
import { useTalk } from "@/features/forge/session/useTalk";
import { bodyOf, isSaid, NO_WISH } from "@/features/forge/start/wish";
import { nameOf, titleOf } from "@/features/forge/words";
import { FakeSocket } from "./fakeSocket";
import { deleted, interview, question, SESSION, turned, wrote } from "./interviews";
import { serve } from "./server";

const second = interview({ revision: 2, turn: question("How should it talk?", "Warm", "Dry") });
const PATH = `/api/v1/builder/sessions/${SESSION}`;
const thinking = interview({ revision: 2, due: "ask" });

test("the later turn counts, whichever way it came", () => {
  const first = opened(interview());
  expect(follow(first, [turned(second)]).session).toBe(second);
  expect(follow(first, [{ type: "read", session: second }]).session).toBe(second);
});

test("what comes late changes nothing", () => {
  const now = opened(second);
  expect(follow(now, [{ type: "read", session: interview() }, turned(interview())])).toBe(now);
});

test("another interview's turn is not this one's", () => {
  const now = opened(interview());
  expect(follow(now, [turned(interview({ session_id: "other", revision: 9 }))])).toBe(now);
});

test("what the model writes grows, until the turn is there", () => {
  const growing = follow(opened(interview()), [turned(thinking), wrote("How should "), wrote("it talk")]);
  expect(growing.growing).toBe("How should it talk");
  const read: Told = { type: "read", session: thinking };
  expect(follow(growing, [read]).growing).toBe("How should it talk");
  expect(follow(growing, [turned({ ...second, revision: 3 })]).growing).toBe("");
});

test("words that come after the turn are not shown with it", () => {
  expect(follow(opened(second), [wrote("Strategy")]).growing).toBe("");
});

test("a deleted interview is gone", () => {
  expect(follow(opened(interview()), [deleted]).isGone).toBe(true);
});

test.each([
  ["not_found", true],
  ["too_many", false],
])("a stream that is refused as %s: the interview is gone is %s", (code, isGone) => {
  FakeSocket.all.length = 0;
  serve({ [`GET ${PATH}`]: { data: interview() } });
  const live = new LiveClient({
    url: "ws://forge/ws",
    open: () => new FakeSocket() as unknown as WebSocket,
    onSignedOut: () => undefined,
  });
  const wrapper = ({ children }: { children: ReactNode }) => (
    <LiveContext value={live}>{children}</LiveContext>
  );
  const { result } = renderHook(() => useInterview(interview()), { wrapper });
  const stream = `interview:${SESSION}`;
  act(() => FakeSocket.last.accept());
  act(() => FakeSocket.last.say({ type: "error", stream, code, message: "", hint: null }));
  expect(result.current.isGone).toBe(isGone);
});

function talk(session: Interview) {
  const told: Told[] = [];
  const client = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={client}>{children}</QueryClientProvider>
  );
  const { result } = renderHook(() => useTalk(session, (more) => void told.push(...more)), { wrapper });
  return { result, told };
}

test("what is pressed twice is sent once, for the turn on the page", async () => {
  const requests = serve({ [`POST ${PATH}/answer`]: { data: second } });
  const { result, told } = talk(interview());
  act(() => {
    result.current.choose(1);
    result.current.choose(0);
  });
  await waitFor(() => expect(told).toEqual([{ type: "read", session: second }]));
  expect(await Promise.all(requests.map((request) => request.json()))).toEqual([
    { answer: { kind: "option", index: 1 }, turn: 1 },
  ]);
});

test("an answer that comes too late shows the turn that waits now", async () => {
  const late = { code: "went_on", message: "Forge has gone on since." };
  serve({ [`POST ${PATH}/answer`]: { status: 409, errors: [late] }, [`GET ${PATH}`]: { data: second } });
  const { result, told } = talk(interview());
  act(() => result.current.say("Quill"));
  await waitFor(() => expect(told).toEqual([{ type: "read", session: second }]));
  expect(result.current.problem).toBeNull();
});

test("what is refused is told at its turn", async () => {
  const refused = { code: "bad_answer", message: "Choose one of the options." };
  serve({ [`POST ${PATH}/answer`]: { status: 400, errors: [refused] } });
  const { result, told } = talk(interview());
  act(() => result.current.say("Something else"));
  await waitFor(() => expect(result.current.problem).toMatchObject({ message: refused.message }));
  expect(told).toEqual([]);
});

test("a soul is imported for one bot only", () => {
  const wish = { ...NO_WISH, soul: "You are Quill.", description: " Stories " };
  expect(bodyOf(wish)).toEqual({ mode: "bot", description: "Stories", soul: "You are Quill." });
  expect(bodyOf({ ...wish, kind: "skill" })).toEqual({ mode: "skill", description: "Stories" });
  expect(bodyOf({ ...wish, kind: "batch" })).toEqual({ mode: "batch", description: "Stories", variants: 3 });
});

test("something has to be said before it begins", () => {
  expect(isSaid({ ...NO_WISH, description: " " })).toBe(false);
  expect(isSaid({ ...NO_WISH, soul: "You are Quill." })).toBe(true);
  expect(isSaid({ ...NO_WISH, kind: "skill", soul: "You are Quill." })).toBe(false);
});

test("what is being made has a name, as well as it is known", () => {
  expect(nameOf({ name: null, initial_description: " Stories\n for children ", mode: "bot" })).toBe(
    "Stories for children",
  );
  expect(nameOf({ name: null, initial_description: "", mode: "skill" })).toBe("a new skill");
  expect(nameOf({ name: null, initial_description: "x".repeat(99), mode: "bot" })).toHaveLength(60);
  expect(titleOf(interview())).toBe("New bot");
  expect(titleOf(interview({ mode: "skill", skill_name: "counting" }))).toBe("Change counting");
});

test.each([
  [{ mode: "bot" }, "Create the bot", "The bot is created"],
  [{ mode: "reconfigure", bot_slug: "quill" }, "Change the bot", "The bot is changed"],
  [{ mode: "skill" }, "Create the skill", "The skill is created"],
  [{ mode: "skill", skill_name: "counting" }, "Change the skill", "The skill is changed"],
] as const)("%o: %s, %s", (changes, button, words) => {
  const session = interview(changes);
  expect([createWord(session, false), madeWords(session, { bots: [] })]).toEqual([button, words]);
});
