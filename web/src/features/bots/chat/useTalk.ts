import { useMutation } from "@tanstack/react-query";
import { useMemo } from "react";
import { ask, resumeAnswer, retryAnswer, stopAnswer } from "@/api/chat";
import { showBranch } from "@/api/sessions";

export type Talk = {
  ask: (text: string, editsId?: string) => Promise<unknown>;
  retry: (messageId: string) => void;
  resume: () => void;
  stop: () => void;
  show: (messageId: string) => void;
  isStopping: boolean;
};

type Options = {
  slug: string;
  sessionId: string | undefined;
  /** A question was accepted or repeated: its answer starts. */
  onAsked: (sessionId: string) => void;
  /** Anything else on the page changed. */
  onChanged: () => void;
};

/** The actions of a conversation. Errors of `ask` are shown where it is called. */
export function useTalk({ slug, sessionId = "", onAsked, onChanged }: Options): Talk {
  const onSuccess = () => onAsked(sessionId);
  const retrying = useMutation({ mutationFn: (id: string) => retryAnswer(sessionId, id), onSuccess });
  const resuming = useMutation({ mutationFn: () => resumeAnswer(sessionId), onSuccess });
  const stopping = useMutation({ mutationFn: () => stopAnswer(sessionId), onSuccess: onChanged });
  const showing = useMutation({
    mutationFn: (headId: string) => showBranch({ id: sessionId, headId }),
    onSuccess: onChanged,
  });
  const { mutate: retry } = retrying;
  const { mutate: resume } = resuming;
  const { mutate: stop, isPending: isStopping } = stopping;
  const { mutate: show } = showing;
  return useMemo(
    () => ({
      ask: async (text: string, editsId?: string) => {
        const turn = await ask({ slug, text, sessionId: sessionId || undefined, editsId });
        onAsked(turn.session.id);
      },
      retry,
      resume: () => resume(),
      stop: () => stop(),
      show,
      isStopping,
    }),
    [slug, sessionId, onAsked, retry, resume, stop, show, isStopping],
  );
}
