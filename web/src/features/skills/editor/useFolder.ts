import { useQueries, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { skillFileQuery, skillQuery } from "@/api/skills";
import type { SkillDetail } from "@/api/types";
import type { Texts } from "./draft";

/** A skill with all its texts, read at one moment. */
export type Folder = { skill: SkillDetail; texts: Texts; others: string[] };

type Read = { folder: Folder | null; error: unknown; retry: () => void };

/** The latest complete version: it stays until a newer one is loaded. */
export function useFolder(name: string): Read {
  const skill = useQuery(skillQuery(name));
  const detail = skill.data;
  const paths = detail?.files.filter(({ is_text }) => is_text).map(({ path }) => path) ?? [];
  const files = useQueries({
    queries: paths.map((path) => skillFileQuery(name, path, detail?.folder_hash ?? "")),
  });
  const [folder, setFolder] = useState<Folder | null>(null);
  const isWhole = detail !== undefined && files.every(({ data }) => data !== undefined);
  if (isWhole && folder?.skill !== detail) {
    const texts = Object.fromEntries(
      files.flatMap(({ data }) => (data?.text == null ? [] : [[data.path, data.text]])),
    );
    const others = detail.files.map(({ path }) => path).filter((path) => !(path in texts));
    setFolder({ skill: detail, texts, others });
  }
  const failed = files.find(({ error }) => error);
  return {
    folder,
    error: skill.error ?? failed?.error ?? null,
    retry: () => {
      void skill.refetch();
      for (const file of files) if (file.error) void file.refetch();
    },
  };
}
