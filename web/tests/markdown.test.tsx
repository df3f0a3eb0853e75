/** Whatever a model writes: it is set as Markdown, and nothing in it can act. */
import { render, screen, waitFor } from "@testing-library/react";
import { Markdown } from "@/ui/Markdown";
import { toChunks } from "@/ui/markdown/chunks";

async function set(text: string, isGrowing = false): Promise<HTMLElement> {
  const { container } = render(<Markdown text={text} isGrowing={isGrowing} />);
  await waitFor(() => expect(container.querySelector(".whitespace-pre-wrap")).toBeNull());
  return container;
}

test.each([
  ["[x](javascript:alert(1))"],
  ["[x](JaVaScRiPt:alert(1))"],
  ["[x](javascript&#58;alert(1))"],
  ["[x](&#106;avascript:alert(1))"],
  ["[x](<java\tscript:alert(1)>)"],
  ["[x](data:text/html,<script>alert(1)</script>)"],
  ["[x](vbscript:x)"],
  ["[x](file:///etc/passwd)"],
  ["[x](//evil.example)"],
  ["[x](/logout)"],
  ["[x][y]\n\n[y]: javascript:alert(1)"],
  ["<javascript:x>"],
  ["![x](javascript:alert(1))"],
  ["![x](data:image/svg+xml,<svg/onload=alert(1)>)"],
])("%s leads nowhere", async (text) => {
  const container = await set(text);
  expect(container.querySelector("a, img, script, iframe")).toBeNull();
  expect(container.textContent).toContain("x");
});

test.each([
  ["<script>alert(1)</script>"],
  ["<img src=x onerror=alert(1)>"],
  ['a <b onclick="alert(1)">b</b>'],
  ["<!-- hidden -->"],
])("%s is text", async (text) => {
  const container = await set(text);
  expect(container.querySelector("script, img, b")).toBeNull();
  expect(container.textContent).toBe(text);
});

test("links go out in a tab of their own, and know nothing of this one", async () => {
  await set("[a](https://a.example) https://b.example <mailto:c@d.example> ![d](http://e.example/f.png)");
  const links = screen.getAllByRole("link") as HTMLAnchorElement[];
  expect(links.map(({ href }) => href)).toEqual([
    "https://a.example/",
    "https://b.example/",
    "mailto:c@d.example",
    "http://e.example/f.png",
  ]);
  expect(links.every(({ rel, target }) => rel === "noopener noreferrer" && target === "_blank")).toBe(true);
});

test.each([
  ["quotes", `${">".repeat(5000)}deep`],
  ["lists", Array.from({ length: 400 }, (_, depth) => `${"  ".repeat(depth)}- deep`).join("\n")],
  ["brackets", "[".repeat(20_000)],
  ["stars", "*a **b ".repeat(5000)],
])("any number of %s is drawn without a loss", async (_, text) => {
  const container = await set(text);
  const letters = (words: string | null) => (words ?? "").replaceAll(/[^a-z]/g, "").length;
  expect(letters(container.textContent)).toBe(letters(text));
});

test("lists, tasks, tables, code and the rest", async () => {
  const container = await set(
    "# Title\n\n1. one\n2. two\n   - inner\n\n- [x] done\n- [ ] open\n\n| a | b |\n|---|--:|\n| 1 | `2` |\n\n~~old~~ *soft* **loud**\n\n> said\n\n---",
  );
  expect(screen.getAllByRole("checkbox").map((box) => (box as HTMLInputElement).checked)).toEqual([
    true,
    false,
  ]);
  expect(screen.getAllByRole("columnheader").map((cell) => cell.textContent)).toEqual(["a", "b"]);
  expect(screen.getAllByRole("cell")[1]).toHaveClass("text-right");
  expect(container.querySelector("ol ul li")?.textContent).toBe("inner");
  for (const part of ["s", "em", "strong", "blockquote", "hr", "td code"]) {
    expect(container.querySelector(part)).not.toBeNull();
  }
});

test("what only looks like a heading or a list is neither", async () => {
  const container = await set("#5 is not a heading, 2.5 not a list");
  expect(container.querySelector("p")?.textContent).toBe("#5 is not a heading, 2.5 not a list");
  expect(container.querySelector(".font-semibold, li")).toBeNull();
});

test("lines of a person stay lines", async () => {
  expect((await set("one\ntwo")).textContent).toBe("one\ntwo");
});

test("code gets its colors when it is whole, and not before", async () => {
  const open = await set("```py\ndef f():\n    return 1", true);
  expect(open.querySelector("pre")?.textContent).toBe("def f():\n    return 1");
  expect(open.querySelector("pre span[style]")).toBeNull();
  const whole = await set("```py\ndef f():\n    return 1\n```\n\nAnd", true);
  await waitFor(() => expect(whole.querySelector("pre span[style*='--code-keyword']")).not.toBeNull());
  expect(whole.querySelector("pre")?.textContent).toBe("def f():\n    return 1");
});

test("code in no language we know stays as it is", async () => {
  const container = await set("```klingon\nqapla'\n```");
  expect(container.querySelector("pre")?.textContent).toBe("qapla'");
  expect(screen.getByText("klingon")).toBeInTheDocument();
});

describe("a text that grows is cut where nothing can change any more", () => {
  const chunksOf = (text: string) => toChunks(text).chunks.map((chunk) => chunk.trim());

  test.each([
    ["a\n\nb\n\nc", ["a", "b", "c"]],
    ["```\na\n\nb\n```\n\nc", ["```\na\n\nb\n```", "c"]],
    ["````\n```\n\na\n````\n\nb", ["````\n```\n\na\n````", "b"]],
    ["- a\n\n- b\n\n  more\n\nc", ["- a\n\n- b\n\n  more", "c"]],
    ["1. a\n\n2. b", ["1. a\n\n2. b"]],
    ["a\n\n\n\n", ["a"]],
    ["", []],
  ])("%j", (text, chunks) => {
    expect(chunksOf(text)).toEqual(chunks.filter(Boolean));
  });

  test("a chunk with another behind it is final, whatever comes", () => {
    const text =
      "One **two**\n\n- a\n\n- b\n\n```js\nx\n\ny\n```\n\n> q\n\n1. z\n\n   more\n\nend [l][r]\n\n[r]: https://r.example";
    for (let upto = 1; upto < text.length; upto++) {
      const before = toChunks(text.slice(0, upto)).chunks;
      const after = toChunks(text).chunks;
      expect(after.slice(0, Math.max(0, before.length - 1))).toEqual(before.slice(0, -1));
    }
  });

  test("a link may be explained in another chunk", async () => {
    await set("See [there][r].\n\nMore.\n\n[r]: https://r.example");
    expect(screen.getByRole("link", { name: "there" })).toHaveAttribute("href", "https://r.example");
  });
});
