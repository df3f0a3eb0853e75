/** Bot queries, mutations, and the cache invalidation that goes with them. */
import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { http, unwrap } from "./client";
import type {
  Bot,
  BotBundle,
  BotChange,
  BotFile,
  BotSkill,
  BotSkillChange,
  BotSort,
  BotStatus,
  EventOf,
  NewBot,
  NewBotSkill,
} from "./types";

export type BotFilter = { statuses?: readonly BotStatus[]; deleted?: boolean; sort?: BotSort };

export function botsQuery({ statuses = [], deleted = false, sort = "activity" }: BotFilter) {
  const query = { status: [...statuses], deleted, sort };
  return queryOptions<Bot[]>({
    queryKey: ["bots", query],
    queryFn: ({ signal }) => unwrap(http.GET("/api/v1/bots", { params: { query }, signal })),
  });
}

const named = (bot: string) => ({ path: { bot } });

/** All queries about one bot share the key prefix `["bot", slug]`. */
export function botQuery(slug: string) {
  return queryOptions<Bot>({
    queryKey: ["bot", slug],
    queryFn: ({ signal }) => unwrap(http.GET("/api/v1/bots/{bot}", { params: named(slug), signal })),
  });
}

export function botSkillsQuery(slug: string) {
  return queryOptions<BotSkill[]>({
    queryKey: ["bot", slug, "skills"],
    queryFn: ({ signal }) => unwrap(http.GET("/api/v1/bots/{bot}/skills", { params: named(slug), signal })),
  });
}

type OneSkill = { slug: string; name: string };
const oneSkill = ({ slug, name }: OneSkill) => ({ path: { bot: slug, name } });

export function attachSkill({
  slug,
  ...body
}: Partial<NewBotSkill> & { slug: string; skill_name: string }): Promise<BotSkill> {
  return unwrap(http.POST("/api/v1/bots/{bot}/skills", { params: named(slug), body: body as NewBotSkill }));
}

/** Omitted fields stay unchanged. */
export function changeBotSkill({
  slug,
  name,
  ...body
}: Partial<BotSkillChange> & OneSkill): Promise<BotSkill> {
  const params = oneSkill({ slug, name });
  return unwrap(http.PATCH("/api/v1/bots/{bot}/skills/{name}", { params, body: body as BotSkillChange }));
}

export function detachSkill(skill: OneSkill): Promise<BotSkill> {
  return unwrap(http.DELETE("/api/v1/bots/{bot}/skills/{name}", { params: oneSkill(skill) }));
}

/** Omitted fields use the server's defaults. */
export function createBot(body: Partial<NewBot> & Pick<NewBot, "name">): Promise<Bot> {
  return unwrap(http.POST("/api/v1/bots", { body: body as NewBot }));
}

export function importBot(body: BotBundle): Promise<Bot> {
  return unwrap(http.POST("/api/v1/bots/import", { body }));
}

export function exportBot(slug: string): Promise<BotBundle> {
  return unwrap(http.GET("/api/v1/bots/{bot}/export", { params: named(slug) }));
}

export function changeBot({ slug, ...body }: BotChange & { slug: string }): Promise<Bot> {
  return unwrap(http.PATCH("/api/v1/bots/{bot}", { params: named(slug), body }));
}

export function cloneBot({ slug, name }: { slug: string; name: string }): Promise<Bot> {
  return unwrap(http.POST("/api/v1/bots/{bot}/clone", { params: named(slug), body: { name } }));
}

export function deleteBot(slug: string): Promise<Bot> {
  return unwrap(http.DELETE("/api/v1/bots/{bot}", { params: named(slug) }));
}

/** Deleted bots can only be addressed by ID. */
export function restoreBot({ id }: Pick<Bot, "id">): Promise<Bot> {
  return unwrap(http.POST("/api/v1/bots/{bot}/restore", { params: named(id) }));
}

type Changed = EventOf<"bot.changed">["data"];
const FILES: Partial<Record<Changed["part"], BotFile>> = {
  soul: "soul",
  identity: "identity",
  user: "user",
  skills: "skills-file",
};

/** Invalidate the queries that show the changed part of a bot. */
export function refreshBot(cache: QueryClient, { slug, part }: Pick<Changed, "slug" | "part">): void {
  void cache.invalidateQueries({ queryKey: ["bots"] });
  void cache.invalidateQueries({ queryKey: ["bot", slug], exact: true });
  for (const section of staleSections(part)) {
    void cache.invalidateQueries({ queryKey: ["bot", slug, ...section] });
  }
}

function staleSections(part: Changed["part"]): string[][] {
  const file = FILES[part];
  if (file !== undefined) {
    return [["file", file], ["versions", file], ["diff", file], ...(part === "skills" ? [["skills"]] : [])];
  }
  if (part === "memory") return [["memories"]];
  return part === "session" ? [["sessions"]] : [];
}
