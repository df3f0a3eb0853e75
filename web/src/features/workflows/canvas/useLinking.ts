import {
  applyEdgeChanges,
  type Connection,
  type Edge,
  type EdgeChange,
  type FinalConnectionState,
} from "@xyflow/react";
import { type KeyboardEvent, useState } from "react";
import { toast } from "@/ui/toast";
import { linked, unlinked, wrongLink } from "../definition/links";
import type { Definition } from "../definition/model";
import type { Link, Way } from "../definition/scopes";
import type { LinkEdge } from "./drawing";

type Options = {
  definition: Definition;
  edges: readonly LinkEdge[];
  change: (definition: Definition) => void;
};

/** Creating, selecting and removing links. */
export function useLinking({ definition, edges: drawn, change }: Options) {
  const [local, setLocal] = useState({ of: drawn, edges: [...drawn] });
  if (local.of !== drawn) setLocal({ of: drawn, edges: [...drawn] });
  const chosen = local.edges.filter(({ selected }) => selected);
  return {
    edges: local.edges,
    onEdgesChange: (changes: EdgeChange<LinkEdge>[]) => {
      const picks = changes.filter((one) => one.type === "select");
      if (picks.length > 0) setLocal(({ of, edges }) => ({ of, edges: applyEdgeChanges(picks, edges) }));
    },
    isValid: (wish: Connection | Edge) => wrongLink(definition, toLink(wish)) === null,
    onConnect: (wish: Connection) => change(linked(definition, toLink(wish))),
    onConnectEnd: (_: unknown, { fromNode, fromHandle, toNode, isValid }: FinalConnectionState) => {
      if (isValid !== false || !fromNode || !toNode) return;
      const [from, to] = fromHandle?.type === "target" ? [toNode, fromNode] : [fromNode, toNode];
      const why = wrongLink(definition, { from: from.id, to: to.id, way: wayOf(fromHandle?.id) });
      if (why) toast.error(why);
    },
    /** Returns whether the key was handled. */
    onKeyDown: ({ key }: KeyboardEvent): boolean => {
      if ((key !== "Delete" && key !== "Backspace") || chosen.length === 0) return false;
      const links = chosen.flatMap(({ data }) => data?.links ?? []);
      change(links.reduce(unlinked, definition));
      return true;
    },
  };
}

const WAYS: readonly string[] = ["after", "then", "else", "rejected", "error"] satisfies Way[];
const wayOf = (handle: string | null | undefined): Way =>
  handle && WAYS.includes(handle) ? (handle as Way) : "after";

const toLink = ({ source, target, sourceHandle }: Connection | Edge): Link => ({
  from: source,
  to: target,
  way: wayOf(sourceHandle),
});
