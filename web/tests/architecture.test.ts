/** The web's own contract: who may import whom, and how long a file may grow. */
const sources = import.meta.glob("../src/**/*.{ts,tsx}", {
  query: "?raw",
  import: "default",
  eager: true,
}) as Record<string, string>;

const LONGEST = 250;
const files = Object.entries(sources).map(([file, text]) => ({ path: file.replace("../src/", ""), text }));

/** Where a file lives: `ui`, `api`, `features/runs`, `app`, or the name of a file at the top. */
const placeOf = (path: string) =>
  path.match(/^(features\/\w+|ui|api|app)\//)?.[1] ?? path.replace(/\.\w+$/, "");

/** What each place may import. `area` is the contract between the shell and the features. */
const MAY: Record<string, readonly string[]> = {
  api: ["api"],
  ui: ["ui"],
  area: ["api"],
  app: [
    "app",
    "area",
    "api",
    "ui",
    "features/audits",
    "features/bots",
    "features/forge",
    "features/home",
    "features/login",
    "features/runs",
    "features/settings",
    "features/skills",
    "features/workflows",
    "features/workspaces",
  ],
  main: ["app", "api", "ui"],
};
const allowedIn = (place: string) => MAY[place] ?? [place, "area", "api", "ui"];

type Import = { target: string; isType: boolean };

function importsOf(path: string, text: string): Import[] {
  const statements = text.matchAll(/(?:^import (type )?[^;]*?from |import\()"([^"]+)"/gm);
  const folder = path.split("/").slice(0, -1);
  return [...statements].flatMap(([, type, from = ""]) => {
    const isType = Boolean(type);
    if (from.startsWith("@/")) return { target: from.slice(2), isType };
    if (!from.startsWith(".")) return [];
    const { pathname } = new URL(from, `file:///${[...folder, ""].join("/")}`);
    return { target: pathname.slice(1), isType };
  });
}

test.each(files.filter(({ path }) => !path.includes(".gen.")))(
  "$path imports only what its place allows",
  (file) => {
    const place = placeOf(file.path);
    const forbidden = importsOf(file.path, file.text).filter(({ target, isType }) => {
      const isWord = place === "ui" && isType && target === "api/types";
      return !isWord && !allowedIn(place).includes(placeOf(target));
    });
    expect(forbidden).toEqual([]);
  },
);

test.each(files.filter(({ path }) => !path.includes(".gen.")))("$path is short", ({ text }) => {
  expect(text.split("\n").length).toBeLessThanOrEqual(LONGEST);
});

test("only the two clients talk to the server", () => {
  const callers = files.filter(({ text }) => /\bfetch\(|new WebSocket\(/.test(text)).map(({ path }) => path);
  expect(callers).toEqual(["api/client.ts", "api/live.ts"]);
});

test("in development every address that is asked for is passed on, and no page is", () => {
  const config = import.meta.glob("../vite.config.ts", { query: "?raw", import: "default", eager: true });
  const passed = [...String(Object.values(config)[0]).matchAll(/"(\/[^"]*)": (?:toForge|\{ \.\.\.toForge)/g)];
  const isPassed = (address: string) => passed.some(([, start = ""]) => address.startsWith(start));
  const calls = files.flatMap(({ text }) => [...text.matchAll(/http\.[A-Z]+\(\s*"([^"]+)"/g)]);
  expect(calls.map(([, address = ""]) => address).filter((address) => !isPassed(address))).toEqual([]);
  const links = files.flatMap(({ text }) => [...text.matchAll(/\bpath: "(\/[^"]*)"/g)]);
  expect(links.map(([, address = ""]) => address).filter(isPassed)).toEqual([]);
});
