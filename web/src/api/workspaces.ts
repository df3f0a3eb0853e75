/** Workspaces: the directories that agents work in, and their files. */
import { queryOptions } from "@tanstack/react-query";
import { http, unwrap } from "./client";
import type { FileEntry, FileText, FoundLines, Workspace } from "./types";

export const workspacesQuery = queryOptions<Workspace[]>({
  queryKey: ["workspaces"],
  queryFn: ({ signal }) => unwrap(http.GET("/api/v1/workspaces", { signal })),
});

const inside = (id: string) => ({ workspace_id: id });

export function workspaceQuery(id: string) {
  return queryOptions<Workspace>({
    queryKey: ["workspace", id],
    queryFn: ({ signal }) =>
      unwrap(http.GET("/api/v1/workspaces/{workspace_id}", { params: { path: inside(id) }, signal })),
  });
}

/** Files can change on disk at any time, so they are always refetched. */
const LOOK_AGAIN = { staleTime: 0 };

export function filesQuery(id: string, path: string) {
  return queryOptions<FileEntry[]>({
    ...LOOK_AGAIN,
    queryKey: ["workspace", id, "files", path],
    queryFn: ({ signal }) => {
      const params = { path: inside(id), query: { path } };
      return unwrap(http.GET("/api/v1/workspaces/{workspace_id}/files", { params, signal }));
    },
  });
}

export function fileQuery(id: string, path: string) {
  return queryOptions<FileText>({
    ...LOOK_AGAIN,
    queryKey: ["workspace", id, "file", path],
    queryFn: ({ signal }) => {
      const params = { path: inside(id), query: { path } };
      return unwrap(http.GET("/api/v1/workspaces/{workspace_id}/file", { params, signal }));
    },
  });
}

const MAX_MATCHES = 200;

export function searchQuery(id: string, q: string) {
  return queryOptions<FoundLines>({
    ...LOOK_AGAIN,
    queryKey: ["workspace", id, "search", q],
    queryFn: ({ signal }) => {
      const params = { path: inside(id), query: { q, limit: MAX_MATCHES } };
      return unwrap(http.GET("/api/v1/workspaces/{workspace_id}/search", { params, signal }));
    },
  });
}

/** Without a path, Forge creates a directory. */
export function createWorkspace({ name, path }: { name: string; path: string | null }): Promise<Workspace> {
  return unwrap(http.POST("/api/v1/workspaces", { body: { name, ...(path && { path }) } }));
}

export function removeWorkspace({ id }: Workspace): Promise<Workspace> {
  return unwrap(http.DELETE("/api/v1/workspaces/{workspace_id}", { params: { path: inside(id) } }));
}
