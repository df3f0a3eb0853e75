/** Text as people and models write it, taken apart: paragraphs, lists, headings, fenced code. Nothing else. */
export type TextBlock =
  | { kind: "paragraph"; text: string }
  | { kind: "heading"; text: string }
  | { kind: "list"; isNumbered: boolean; from: number; items: readonly string[] }
  | { kind: "code"; text: string };

const FENCE = /^\s*(`{3,}|~{3,})/;
const HEADING = /^#{1,6}\s+(.*)$/;
const ITEM = /^\s*(?:[-*•]|(\d{1,9})[.)])\s+(.*)$/;
const CONTINUED = /^\s{2,}\S/;

export function toBlocks(text: string): TextBlock[] {
  const lines = text.trim().split("\n");
  const blocks: TextBlock[] = [];
  let at = 0;
  while (at < lines.length) {
    const found = code(lines, at) ?? heading(lines, at) ?? list(lines, at) ?? paragraph(lines, at);
    if (found.block) blocks.push(found.block);
    at = found.next;
  }
  return blocks;
}

type Found = { block: TextBlock | null; next: number };

/** A fence that is not closed goes to the end: it may still be written. */
function code(lines: readonly string[], from: number): Found | null {
  const fence = FENCE.exec(lines[from] ?? "")?.[1];
  if (!fence) return null;
  const end = lines.findIndex((line, at) => at > from && line.trim().startsWith(fence));
  const to = end < 0 ? lines.length : end;
  return { block: { kind: "code", text: lines.slice(from + 1, to).join("\n") }, next: to + 1 };
}

function heading(lines: readonly string[], at: number): Found | null {
  const text = HEADING.exec(lines[at] ?? "")?.[1];
  return text === undefined ? null : { block: { kind: "heading", text }, next: at + 1 };
}

function list(lines: readonly string[], from: number): Found | null {
  const first = ITEM.exec(lines[from] ?? "");
  if (!first) return null;
  const items: string[] = [];
  let at = from;
  for (; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const item = ITEM.exec(line);
    if (item && Boolean(item[1]) === Boolean(first[1])) items.push(item[2] ?? "");
    else if (CONTINUED.test(line) && !item) items.push(`${items.pop()}\n${line.trim()}`);
    else break;
  }
  const isNumbered = first[1] !== undefined;
  return { block: { kind: "list", isNumbered, from: Number(first[1] ?? 1), items }, next: at };
}

function paragraph(lines: readonly string[], from: number): Found {
  const startsAnother = (line: string) =>
    line.trim() === "" || FENCE.test(line) || HEADING.test(line) || ITEM.test(line);
  const end = lines.findIndex((line, at) => at > from && startsAnother(line));
  const to = end < 0 ? lines.length : end;
  const text = lines.slice(from, to).join("\n").trim();
  return { block: text ? { kind: "paragraph", text } : null, next: to };
}
