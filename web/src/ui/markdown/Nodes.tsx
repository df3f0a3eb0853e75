import { clsx } from "clsx";
import type { ReactNode } from "react";
import { Code } from "../Code";
import type { Node } from "./parse";

type Props = { nodes: readonly Node[]; isGrowing?: boolean };

/** Renders Markdown nodes. Raw HTML is never rendered. */
export function Nodes({ nodes, isGrowing = false }: Props): ReactNode {
  return nodes.map((node, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never move
    <Drawn key={index} node={node} isGrowing={isGrowing} />
  ));
}

function Drawn({ node, isGrowing }: { node: Node; isGrowing: boolean }): ReactNode {
  const inside = "children" in node && <Nodes nodes={node.children} isGrowing={isGrowing} />;
  switch (node.kind) {
    case "text":
      return node.text;
    case "code":
      return <code className="mono rounded-sm bg-ink/7 px-1 py-px break-words">{node.text}</code>;
    case "fence":
      return <Code text={node.text} language={node.language} isGrowing={isGrowing && !node.isClosed} />;
    case "break":
      return <br />;
    case "rule":
      return <hr className="border-line" />;
    case "paragraph":
      return (
        <p dir="auto" className="whitespace-pre-line">
          {inside}
        </p>
      );
    case "heading":
      return (
        <p
          dir="auto"
          className={clsx(
            "pt-1 font-semibold",
            node.level === 1 ? "text-lg" : node.level === 2 && "text-base",
          )}
        >
          {inside}
        </p>
      );
    case "quote":
      return <blockquote className="space-y-2 border-l-2 border-strong pl-3 text-dim">{inside}</blockquote>;
    case "bullets":
      return <ul className="list-disc space-y-1 pl-5 marker:text-faint">{inside}</ul>;
    case "numbers":
      return (
        <ol start={node.from} className="list-decimal space-y-1 pl-5 marker:text-dim">
          {inside}
        </ol>
      );
    case "item":
      return <Item isDone={node.isDone}>{inside}</Item>;
    case "link":
      return (
        <a
          href={node.href}
          target="_blank"
          rel="noopener noreferrer"
          className="rounded-sm underline decoration-strong underline-offset-2 hover:decoration-ink"
        >
          {inside}
        </a>
      );
    case "strong":
      return <strong className="font-semibold">{inside}</strong>;
    case "em":
      return <em>{inside}</em>;
    case "strike":
      return <s>{inside}</s>;
    case "table":
      return <Table>{inside}</Table>;
    case "row":
      return <tr className="border-b border-line last:border-0">{inside}</tr>;
    case "cell":
      return <Cell node={node}>{inside}</Cell>;
    case "group":
      return inside;
  }
}

function Item({ isDone, children }: { isDone: boolean | null; children: ReactNode }) {
  if (isDone === null) return <li className="space-y-1.5 whitespace-pre-line">{children}</li>;
  return (
    <li className="-ml-5 flex list-none items-baseline gap-2">
      <input
        type="checkbox"
        aria-label={isDone ? "Done" : "To do"}
        checked={isDone}
        readOnly
        disabled
        className="size-3.5 shrink-0 translate-y-0.5"
      />
      <div className="min-w-0 space-y-1.5 whitespace-pre-line">{children}</div>
    </li>
  );
}

/** A table in its own scrolling box. */
function Table({ children }: { children: ReactNode }) {
  return (
    <section aria-label="Table" tabIndex={0} className="overflow-x-auto rounded-md border border-line">
      <table className="w-full border-collapse">
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

const ALIGN = { left: "text-left", center: "text-center", right: "text-right" };

function Cell({ node, children }: { node: Extract<Node, { kind: "cell" }>; children: ReactNode }) {
  const look = clsx("px-2.5 py-1.5 align-top", ALIGN[node.align ?? "left"]);
  return node.isHead ? (
    <th scope="col" className={clsx(look, "bg-raised/60 font-medium")}>
      {children}
    </th>
  ) : (
    <td className={look}>{children}</td>
  );
}
