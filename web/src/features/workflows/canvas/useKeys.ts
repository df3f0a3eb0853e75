import { type FocusEvent, type KeyboardEvent, type RefObject, useState } from "react";
import { duplicated, removed } from "../definition/steps";
import { type Box, stepsAmong } from "./boxes";
import type { CanvasView } from "./contract";
import type { Layout, Rect } from "./layout";
import { type Direction, nearest } from "./nearest";
import { useSelectedInSight, useSight } from "./useSight";

type Options = Pick<CanvasView, "definition" | "selected" | "onSelect" | "onOpen" | "onChange"> & {
  box: RefObject<HTMLDivElement | null>;
  layout: Layout;
};

const ARROWS: Record<string, Direction> = {
  ArrowUp: "up",
  ArrowDown: "down",
  ArrowLeft: "left",
  ArrowRight: "right",
};

/** Keyboard control of the canvas: arrows move the focus, other keys act on the selection. */
export function useKeys({ box, definition, layout, selected, onSelect, onOpen, onChange }: Options) {
  const show = useSight(box, layout);
  useSelectedInSight(selected, show);
  const [focused, setFocused] = useState<string | null>(null);
  const visible = visibleIn(layout);
  const stops = [focused, ...selected, visible.keys().next().value ?? null];
  const tabStop = stops.find((id) => id != null && visible.has(id)) ?? null;
  const elementOf = (id: string) =>
    box.current?.querySelector<HTMLElement>(`.react-flow__node[data-id=${CSS.escape(id)}]`) ?? null;

  const goTo = (id: string) => {
    setFocused(id);
    show(id);
    // Boxes outside the viewport are rendered only after scrolling.
    const focus = () => elementOf(id)?.focus({ preventScroll: true });
    focus();
    requestAnimationFrame(focus);
  };

  const onFocus = ({ target }: FocusEvent) => {
    const id = idOf(target);
    if (id) setFocused(id);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const id = idOf(event.target);
    const isNode = id !== null && (event.target as Element).matches(".react-flow__node");
    if (isNode ? onNode(event, id) : false) event.preventDefault();
    else if (onSelection(event)) event.preventDefault();
  };

  const onNode = ({ key, shiftKey, ctrlKey, metaKey }: KeyboardEvent, id: string): boolean => {
    const direction = ARROWS[key];
    const next = direction && nearest(visible, id, direction);
    if (direction) {
      if (next) goTo(next);
      return true;
    }
    if (key === "Enter") {
      onSelect([id]);
      onOpen?.(id);
      return true;
    }
    if (key !== " ") return false;
    const isMore = shiftKey || ctrlKey || metaKey;
    const others = selected.filter((one) => one !== id);
    if (selected.includes(id)) onSelect(isMore ? others : []);
    else onSelect(isMore ? [...others, id] : [id]);
    return true;
  };

  const onSelection = ({ key, ctrlKey, metaKey, target }: KeyboardEvent): boolean => {
    const isMod = ctrlKey || metaKey;
    if (key === "Escape" && selected.length > 0) onSelect([]);
    else if (key === "a" && isMod) onSelect(definition.steps.map((step) => step.id));
    else if (onChange)
      return onWriting(key, isMod, stepsAmong(layout.boxes, chosenBy(selected, idOf(target))));
    else return false;
    return true;
  };

  const onWriting = (key: string, isMod: boolean, ids: readonly string[]): boolean => {
    if (ids.length === 0) return false;
    if (key === "Delete" || key === "Backspace") {
      onSelect([]);
      onChange?.(removed(definition, ids));
      box.current?.focus();
    } else if (key === "d" && isMod) {
      const copied = duplicated(definition, ids);
      onChange?.(copied.definition);
      onSelect(copied.ids);
    } else return false;
    return true;
  };

  return { tabStop, onFocus, onKeyDown };
}

const idOf = (target: EventTarget): string | null =>
  target instanceof Element ? (target.closest<HTMLElement>(".react-flow__node")?.dataset.id ?? null) : null;

const chosenBy = (selected: readonly string[], focused: string | null): readonly string[] =>
  selected.length > 0 ? selected : focused ? [focused] : [];

/** All focusable boxes: everything except the `finally` frame. */
function visibleIn({ boxes, rects }: Layout): Map<string, Rect> {
  const found = new Map<string, Rect>();
  const walk = (box: Box) => {
    const rect = rects.get(box.id);
    if (rect && box.kind !== "band") found.set(box.id, rect);
    if (!box.isFolded) for (const member of box.members) walk(member);
  };
  for (const box of boxes) walk(box);
  return found;
}
