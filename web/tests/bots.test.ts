import { QueryClient } from "@tanstack/react-query";
import { botQuery, botsQuery, refreshBot } from "@/api/bots";
import { memoriesQuery } from "@/api/memories";
import { fileStateQuery, versionsQuery } from "@/api/versions";
import { NoBundle, readBundle } from "@/features/bots/bundle";
import { filterOf, readShelf } from "@/features/bots/grid/shelf";
import { placeOf, readPlace } from "@/features/bots/soul/place";
import { daysLeft, isNamed, stateOf } from "@/features/bots/state";
import { bot, file } from "./bots";
import { time } from "./events";

test("the state of a bot is the first thing that matters about it", () => {
  const words = [
    bot(),
    bot({ answering: 2 }),
    bot({ answering: 2, blocked: "SOUL.md was edited." }),
    bot({ status: "disabled", blocked: "The bot is disabled." }),
    bot({ status: "archived" }),
    bot({ status: "archived", deleted_at: time(0) }),
  ].map(stateOf);
  expect(words).toEqual([
    { word: "ready", tone: "ok" },
    { word: "answering", tone: "run" },
    { word: "blocked", tone: "wait" },
    { word: "disabled", tone: "idle" },
    { word: "archived", tone: "idle" },
    { word: "deleted", tone: "idle" },
  ]);
});

test("a bot is found by words of its name, slug, description and tags, all of them", () => {
  const found = ["", "release", "NOTES writes", "rele notes", "poems", "releases poems"].map((words) =>
    isNamed(bot(), words),
  );
  expect(found).toEqual([true, true, true, true, false, false]);
});

test("a deleted bot is kept for thirty days", () => {
  const deleted = Date.parse(time(0));
  const day = 86_400_000;
  expect([0, 1, 29.5 * day, 30 * day, 99 * day].map((ms) => daysLeft(time(0), deleted + ms))).toEqual([
    30, 30, 1, 0, 0,
  ]);
});

test("an address typed by hand shows what can be understood of it", () => {
  expect(readShelf({ show: "archived", sort: "name", new: true, else: 1 })).toEqual({
    show: "archived",
    sort: "name",
    new: true,
  });
  expect(readShelf({ show: "some", sort: 3, new: "yes" })).toEqual({});
  expect(readPlace({ file: "identity", version: 2, with: 0, line: 7 })).toEqual({
    file: "identity",
    version: 2,
    with: 0,
    line: 7,
  });
  expect(readPlace({ file: "soul", version: -1, with: 3, line: 1.5 })).toEqual({});
  expect([placeOf("soul"), placeOf("user")]).toEqual([{}, { file: "user" }]);
});

test("what is shown is what the server is asked for", () => {
  expect(filterOf({})).toEqual({ sort: "activity" });
  expect(filterOf({ show: "disabled", sort: "name" })).toEqual({ statuses: ["disabled"], sort: "name" });
  expect(filterOf({ show: "deleted" })).toEqual({ deleted: true, sort: "activity" });
});

test("any file may be dropped, but only a bot is taken", () => {
  const bundle = { forge_bot: 1, slug: "a", exported_at: time(0), files: {} };
  expect(readBundle(JSON.stringify(bundle))).toEqual(bundle);
  for (const text of ["", "not JSON", "null", "[]", '{"name": "other"}']) {
    expect(() => readBundle(text)).toThrow(NoBundle);
  }
});

test("a change makes stale what shows it, and nothing else", () => {
  const cache = new QueryClient();
  const soul = fileStateQuery("a", "soul").queryKey;
  const user = fileStateQuery("a", "user").queryKey;
  const history = versionsQuery("a", "soul").queryKey;
  const memories = memoriesQuery("a", null).queryKey;
  const keys = [
    botsQuery({}).queryKey,
    botQuery("a").queryKey,
    botQuery("b").queryKey,
    soul,
    user,
    history,
    memories,
  ];
  const staleAfter = (part: "soul" | "memory" | "deleted") => {
    cache.clear();
    for (const key of keys) cache.setQueryData(key as readonly unknown[], file("x"));
    refreshBot(cache, { slug: "a", part });
    return keys.filter((key) => cache.getQueryState(key as readonly unknown[])?.isInvalidated);
  };
  const [grid, page] = keys;
  expect(staleAfter("soul")).toEqual([grid, page, soul, history]);
  expect(staleAfter("memory")).toEqual([grid, page, memories]);
  expect(staleAfter("deleted")).toEqual([grid, page]);
});
