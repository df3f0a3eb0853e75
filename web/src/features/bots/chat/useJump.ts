import { useRouterState } from "@tanstack/react-router";
import { type RefObject, useEffect, useRef } from "react";
import type { ChatMessage } from "@/api/types";

type Options = {
  box: RefObject<HTMLElement | null>;
  messages: readonly ChatMessage[];
  show: (messageId: string) => void;
  hold: () => void;
};

/** Scroll to the message named in the URL hash, once, switching branches if necessary. */
export function useJump({ box, messages, show, hold }: Options): string {
  const target = useRouterState({ select: ({ location }) => location.hash });
  const asked = useRef("");
  const arrived = useRef("");
  const isHere = messages.some(({ id }) => id === target);
  const isRead = messages.length > 0;
  useEffect(() => {
    if (!target || !isRead || arrived.current === target) return;
    if (!isHere) {
      // Only once: an unknown ID would be requested forever.
      if (asked.current !== target) show(target);
      asked.current = target;
      return;
    }
    arrived.current = target;
    hold();
    const element = box.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(target)}"]`);
    element?.focus({ preventScroll: true });
    element?.scrollIntoView({ block: "center" });
  }, [target, isRead, isHere, show, hold, box]);
  return target;
}
