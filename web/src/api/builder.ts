/** Interview queries and mutations, including the interview memory. */
import { queryOptions } from "@tanstack/react-query";
import { accepted, http, unwrap } from "./client";
import type {
  BuilderConfig,
  FileChange,
  Interview,
  InterviewAnswer,
  InterviewDraft,
  InterviewMemory,
  InterviewSpeaker,
  Made,
  NewInterview,
  SkillRequest,
} from "./types";

const at = (session_id: string) => ({ path: { session_id } });

/** Refetched whenever its page opens, since another client may have answered. */
export function interviewQuery(id: string) {
  return queryOptions<Interview>({
    queryKey: ["interview", id],
    queryFn: ({ signal }) => readInterview(id, signal),
    staleTime: 2000,
  });
}

export function readInterview(id: string, signal: AbortSignal): Promise<Interview> {
  return unwrap(http.GET("/api/v1/builder/sessions/{session_id}", { params: at(id), signal }));
}

export const draftsQuery = queryOptions<InterviewDraft[]>({
  queryKey: ["interviews"],
  queryFn: ({ signal }) => unwrap(http.GET("/api/v1/builder/drafts", { signal })),
});

/** Returns immediately; a model's first turn arrives as an event. Omitted fields use the server's defaults. */
export function startInterview(given: Partial<NewInterview>): Promise<Interview> {
  const params = { query: { wait: false } };
  return unwrap(http.POST("/api/v1/builder/sessions", { params, body: given as NewInterview }));
}

type Answered = { id: string; answer: InterviewAnswer; revision: number };

/** The answer applies only to this revision, so a double click is not counted twice. */
export function answerInterview({ id, answer, revision }: Answered): Promise<Interview> {
  const body = { answer, turn: revision };
  return unwrap(http.POST("/api/v1/builder/sessions/{session_id}/answer", { params: at(id), body }));
}

type Switched = { id: string; speaker: InterviewSpeaker };

export function switchSpeaker({ id, speaker }: Switched): Promise<Interview> {
  const body = { speaker };
  return unwrap(http.POST("/api/v1/builder/sessions/{session_id}/speaker", { params: at(id), body }));
}

export function cancelThinking(id: string): Promise<Interview> {
  return unwrap(http.POST("/api/v1/builder/sessions/{session_id}/cancel", { params: at(id) }));
}

export async function deleteInterview(id: string): Promise<void> {
  await accepted(http.DELETE("/api/v1/builder/sessions/{session_id}", { params: at(id) }));
}

/** What to create; null creates it as agreed in the interview. */
export type Wanted = { config: BuilderConfig | null } | { skill_request: SkillRequest | null };
type Assembled = { result: Made | null; files: FileChange[] };

function make(id: string, wanted: Wanted, dry_run: boolean): Promise<Assembled> {
  const params = { ...at(id), query: { dry_run } };
  return "config" in wanted
    ? unwrap(http.POST("/api/v1/builder/sessions/{session_id}/assemble", { params, body: wanted }))
    : unwrap(http.POST("/api/v1/builder/sessions/{session_id}/create-skill", { params, body: wanted }));
}

/** Idempotent: repeated calls create it only once. */
export async function makeIt({ id, wanted }: { id: string; wanted: Wanted }): Promise<Made> {
  const { result } = await make(id, wanted, false);
  if (!result) throw new Error("The response does not say what was created.");
  return result;
}

/** The files that would be written, or that were written if the interview is finished. */
export function filesQuery(id: string, wanted: Wanted) {
  return queryOptions<FileChange[]>({
    queryKey: ["interview", id, "files", wanted],
    queryFn: async () => (await make(id, wanted, true)).files,
    retry: false,
  });
}

export const memoryQuery = queryOptions<InterviewMemory[]>({
  queryKey: ["interview-memory"],
  queryFn: ({ signal }) => unwrap(http.GET("/api/v1/builder/memory", { signal })),
});

export function forgetOne(entry_id: string): Promise<number> {
  return unwrap(http.DELETE("/api/v1/builder/memory/{entry_id}", { params: { path: { entry_id } } }));
}

export function forgetAll(): Promise<number> {
  return unwrap(http.DELETE("/api/v1/builder/memory"));
}
