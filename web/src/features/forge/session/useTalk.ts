import { useMutation } from "@tanstack/react-query";
import { useRef } from "react";
import { answerInterview, cancelThinking, readInterview, switchSpeaker } from "@/api/builder";
import { ApiError } from "@/api/client";
import type { Interview, InterviewAnswer, InterviewPhase, InterviewSpeaker } from "@/api/types";
import type { Told } from "./follow";

export type Talk = {
  choose: (index: number) => void;
  say: (text: string) => void;
  confirm: (yes: boolean) => void;
  /** To the question before, or to the first one of a phase. */
  back: (phase?: InterviewPhase) => void;
  cancel: () => void;
  switchTo: (speaker: InterviewSpeaker) => Promise<unknown>;
  /** The answer to the turn on the page is under way. */
  isSending: boolean;
  isSwitching: boolean;
  /** What was refused of the turn on the page. */
  problem: unknown;
};

/** All that can be said in an interview. An answer is for the turn on the page, and for no other. */
export function useTalk(session: Interview, tell: (told: readonly Told[]) => void): Talk {
  const { session_id: id, revision } = session;
  /** The turn that an answer is under way for: known at once, before the page is drawn anew. */
  const sent = useRef<number | null>(null);
  const onSuccess = (told: Interview) => tell([{ type: "read", session: told }]);
  const answering = useMutation({
    mutationFn: (given: { answer: InterviewAnswer; revision: number }) => taken(id, given),
    meta: { isShownInPlace: true },
    onSuccess,
    onSettled: () => {
      sent.current = null;
    },
  });
  const cancelling = useMutation({ mutationFn: () => cancelThinking(id), onSuccess });
  const switching = useMutation({
    mutationFn: (speaker: InterviewSpeaker) => switchSpeaker({ id, speaker }),
    meta: { isShownInPlace: true },
    onSuccess,
  });
  const isOfThisTurn = answering.variables?.revision === revision;
  const isSending = answering.isPending && isOfThisTurn;
  const answer = (given: InterviewAnswer) => {
    if (sent.current === revision) return;
    sent.current = revision;
    answering.mutate({ answer: given, revision });
  };
  return {
    choose: (index) => answer({ kind: "option", index }),
    say: (text) => answer({ kind: "text", text }),
    confirm: (yes) => answer({ kind: "confirm", yes }),
    back: (phase) => answer({ kind: "back", phase: phase ?? null }),
    cancel: () => cancelling.mutate(),
    switchTo: switching.mutateAsync,
    isSending,
    isSwitching: switching.isPending,
    problem: isOfThisTurn ? answering.error : null,
  };
}

/** An answer that comes too late is none: the turn that waits now is shown instead. */
async function taken(id: string, given: { answer: InterviewAnswer; revision: number }): Promise<Interview> {
  try {
    return await answerInterview({ id, ...given });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "went_on") throw error;
    return readInterview(id, AbortSignal.timeout(LATE_MS));
  }
}

const LATE_MS = 30_000;
