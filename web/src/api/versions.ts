/** The files of a bot on disk, and their versions. */
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { ApiError, http, type Page, unwrap, unwrapPage } from "./client";
import type {
  BotFile,
  FileConflict,
  FileDiff,
  FileProblem,
  FileState,
  FileVersion,
  FileVersionDetail,
} from "./types";

type OfFile = { slug: string; file: BotFile };
const at = ({ slug, file }: OfFile) => ({ bot: slug, file });

/** Files can change on disk at any time, so they are always refetched. */
const LOOK_AGAIN = { staleTime: 0 };

export function fileStateQuery(slug: string, file: BotFile) {
  return queryOptions<FileState>({
    ...LOOK_AGAIN,
    queryKey: ["bot", slug, "file", file],
    queryFn: ({ signal }) =>
      unwrap(http.GET("/api/v1/bots/{bot}/{file}", { params: { path: at({ slug, file }) }, signal })),
  });
}

/** Validate a text that is not saved yet. */
export function draftProblemsQuery(slug: string, file: BotFile, content: string) {
  return queryOptions<FileProblem[]>({
    queryKey: ["bot", slug, "check", file, content],
    queryFn: ({ signal }) =>
      unwrap(
        http.POST("/api/v1/bots/{bot}/{file}/check", {
          params: { path: at({ slug, file }) },
          body: { content },
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

const VERSIONS_A_PAGE = 50;

export function versionsQuery(slug: string, file: BotFile) {
  return infiniteQueryOptions({
    ...LOOK_AGAIN,
    queryKey: ["bot", slug, "versions", file],
    queryFn: ({ signal, pageParam }) => {
      const query = { limit: VERSIONS_A_PAGE, ...(pageParam && { cursor: pageParam }) };
      const params = { path: at({ slug, file }), query };
      return unwrapPage<FileVersion>(http.GET("/api/v1/bots/{bot}/{file}/versions", { params, signal }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: (last: Page<FileVersion>) => last.nextCursor,
  });
}

/** A version never changes. */
export function versionQuery(slug: string, file: BotFile, number: number) {
  return queryOptions<FileVersionDetail>({
    queryKey: ["bot", slug, "version", file, number],
    queryFn: ({ signal }) => {
      const params = { path: { ...at({ slug, file }), number } };
      return unwrap(http.GET("/api/v1/bots/{bot}/{file}/versions/{number}", { params, signal }));
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** Compare two versions, or a version with the file on disk. */
export function diffQuery(slug: string, file: BotFile, left: number, right: number | null) {
  return queryOptions<FileDiff>({
    ...LOOK_AGAIN,
    queryKey: ["bot", slug, "diff", file, left, right],
    queryFn: ({ signal }) => {
      const params = { path: at({ slug, file }), query: { left, ...(right !== null && { right }) } };
      return unwrap(http.GET("/api/v1/bots/{bot}/{file}/diff", { params, signal }));
    },
  });
}

export type Save = OfFile & { content: string; base_hash: string; message: string };

export function saveFile({ slug, file, ...body }: Save): Promise<FileState> {
  return unwrap(http.PUT("/api/v1/bots/{bot}/{file}", { params: { path: at({ slug, file }) }, body }));
}

export function rollBack({ slug, file, version }: OfFile & { version: number }): Promise<FileState> {
  const params = { path: at({ slug, file }) };
  return unwrap(http.POST("/api/v1/bots/{bot}/{file}/rollback", { params, body: { version, message: "" } }));
}

/** `hash` identifies the text that was reviewed; any other text is rejected. */
export function acceptEdit({ slug, file, hash }: OfFile & { hash: string }): Promise<FileState> {
  const params = { path: at({ slug, file }) };
  return unwrap(http.POST("/api/v1/bots/{bot}/{file}/accept", { params, body: { hash, message: "" } }));
}

/** Return the conflict that caused a save to fail, or null for other errors. */
export function conflictOf(error: unknown): FileConflict | null {
  if (!(error instanceof ApiError) || error.code !== "file_changed") return null;
  return error.detail as FileConflict | null;
}
