/**
 * Markdown as a tree of nodes that this app can render. HTML becomes text, images become links, and only web and mail
 * links are kept.
 */
import MarkdownIt, { type Token } from "markdown-it";

export type Block =
  | "paragraph"
  | "quote"
  | "bullets"
  | "strong"
  | "em"
  | "strike"
  | "table"
  | "row"
  | "group";
export type Align = "left" | "center" | "right";
export type Node =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "fence"; text: string; language: string; isClosed: boolean }
  | { kind: "break" }
  | { kind: "rule" }
  | { kind: "link"; href: string; children: Node[] }
  | { kind: "heading"; level: number; children: Node[] }
  | { kind: "numbers"; from: number; children: Node[] }
  | { kind: "item"; isDone: boolean | null; children: Node[] }
  | { kind: "cell"; isHead: boolean; align: Align | null; children: Node[] }
  | { kind: Block; children: Node[] };
type Parent = Extract<Node, { children: Node[] }>;

const DEEPEST = 40;
const SAFE = /^(?:https?:\/\/|mailto:)[^\s]/i;

const parser = new MarkdownIt({ html: false, linkify: true, maxNesting: DEEPEST });
parser.validateLink = (url) => SAFE.test(url);
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });

export function parse(text: string, definitions = ""): Node[] {
  const tokens = parser.parse(definitions ? `${text}\n\n${definitions}` : text, {});
  // The parser drops deeper nesting: show the source instead of losing text.
  if (tokens.some(({ level }) => level >= DEEPEST - 1)) {
    return [{ kind: "paragraph", children: [{ kind: "text", text }] }];
  }
  return treeOf(tokens, text.split("\n"));
}

/** Build a tree from the flat list of opening and closing tokens. */
function treeOf(tokens: readonly Token[], lines: readonly string[]): Node[] {
  const root: Parent = { kind: "group", children: [] };
  const open: Parent[] = [root];
  for (const token of tokens) {
    const parent = open.at(-1) ?? root;
    if (token.nesting === -1) {
      open.pop();
    } else if (token.nesting === 1) {
      const opened = parentOf(token);
      parent.children.push(opened);
      open.push(opened);
    } else {
      parent.children.push(...leavesOf(token, lines));
    }
  }
  return root.children.map(withTasks);
}

const BLOCKS: Record<string, Block> = {
  paragraph_open: "paragraph",
  blockquote_open: "quote",
  bullet_list_open: "bullets",
  strong_open: "strong",
  em_open: "em",
  s_open: "strike",
  table_open: "table",
  tr_open: "row",
};

function parentOf(token: Token): Parent {
  const children: Node[] = [];
  switch (token.type) {
    case "heading_open":
      return { kind: "heading", level: Number(token.tag.slice(1)), children };
    case "ordered_list_open":
      return { kind: "numbers", from: Number(token.attrGet("start") ?? 1), children };
    case "list_item_open":
      return { kind: "item", isDone: null, children };
    case "th_open":
    case "td_open":
      return { kind: "cell", isHead: token.type === "th_open", align: alignOf(token), children };
    case "link_open":
      return { kind: "link", href: String(token.attrGet("href") ?? ""), children };
    default:
      return { kind: token.hidden ? "group" : (BLOCKS[token.type] ?? "group"), children };
  }
}

function leavesOf(token: Token, lines: readonly string[]): Node[] {
  switch (token.type) {
    case "inline":
      return treeOf(token.children ?? [], lines);
    case "code_inline":
      return [{ kind: "code", text: token.content }];
    case "fence":
    case "code_block":
      return [fenceOf(token, lines)];
    case "hr":
      return [{ kind: "rule" }];
    case "hardbreak":
      return [{ kind: "break" }];
    case "softbreak":
      return [{ kind: "text", text: "\n" }];
    case "image":
      return [imageOf(token)];
    default:
      return token.content ? [{ kind: "text", text: token.content }] : [];
  }
}

function imageOf(token: Token): Node {
  const href = String(token.attrGet("src") ?? "");
  return { kind: "link", href, children: [{ kind: "text", text: token.content || href }] };
}

function fenceOf({ type, content, info, map, markup }: Token, lines: readonly string[]): Node {
  const last = lines[(map?.[1] ?? 0) - 1]?.trim() ?? "";
  const isClosed = type === "code_block" || (map !== null && map[1] - map[0] > 1 && last.startsWith(markup));
  const language = info.trim().split(/\s+/)[0]?.toLowerCase() ?? "";
  return { kind: "fence", text: content.replace(/\n$/, ""), language, isClosed };
}

function alignOf(token: Token): Align | null {
  const found = /text-align:(left|center|right)/.exec(String(token.attrGet("style") ?? ""));
  return (found?.[1] as Align | undefined) ?? null;
}

const TASK = /^\[([ xX])\] /;

/** `- [x] done`: move the mark from the text to the item. */
function withTasks(node: Node): Node {
  if (!("children" in node)) return node;
  const children = node.children.map(withTasks);
  if (node.kind !== "item") return { ...node, children };
  const [first, ...rest] = children;
  if (!first || !("children" in first)) return { ...node, children };
  const [text, ...others] = first.children;
  const mark = text?.kind === "text" ? TASK.exec(text.text) : null;
  if (!mark || text?.kind !== "text") return { ...node, children };
  const left: Node = { kind: "text", text: text.text.slice(mark[0].length) };
  return { ...node, isDone: mark[1] !== " ", children: [{ ...first, children: [left, ...others] }, ...rest] };
}
