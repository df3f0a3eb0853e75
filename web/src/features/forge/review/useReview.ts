import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { refreshBot } from "@/api/bots";
import { makeIt, type Wanted } from "@/api/builder";
import type { BuilderConfig, Interview, Made, SkillRequest } from "@/api/types";
import { toast } from "@/ui/toast";
import type { Told } from "../session/follow";

type Edits = Partial<BuilderConfig> & Partial<SkillRequest>;

export type Review = {
  /** What would be created, including edits; null until everything is known. */
  wanted: Wanted | null;
  change: (edits: Edits) => void;
  create: () => void;
  isCreating: boolean;
  error: unknown;
  /** What the files are generated from; null while they are hidden. */
  shown: Wanted | null;
  showFiles: (isShown: boolean) => void;
};

/** State of the review: edits, file preview and creation. */
export function useReview(session: Interview, tell: (told: readonly Told[]) => void): Review {
  const [edited, setEdited] = useState<{ of: string; edits: Edits }>({ of: "", edits: {} });
  const [shown, setShown] = useState<Wanted | null>(null);
  const cache = useQueryClient();
  const navigate = useNavigate();
  const agreed = agreedOn(session);
  const of = JSON.stringify(agreed);
  const edits = edited.of === of ? edited.edits : {};
  const wanted = agreed && withEdits(agreed, edits);

  const making = useMutation({
    mutationFn: makeIt,
    meta: { isShownInPlace: true },
    onSuccess: async (made: Made) => {
      for (const { bot_slug: slug } of made.bots) {
        refreshBot(cache, { slug, part: "bot" });
        void cache.invalidateQueries({ queryKey: ["bot", slug] });
      }
      const [bot, ...others] = made.bots;
      if (!bot || others.length > 0) return tell([{ type: "read", session: { ...session, made } }]);
      toast.ok(bot.is_new ? `Created ${bot.bot_name}.` : `Changed ${bot.bot_name}.`);
      await navigate({
        to: "/bots/$slug/chat/{-$sessionId}",
        params: { slug: bot.bot_slug, sessionId: undefined },
      });
    },
  });
  return {
    wanted,
    change: (changed) => setEdited({ of, edits: { ...edits, ...changed } }),
    create: () => {
      if (wanted && !making.isPending) making.mutate({ id: session.session_id, wanted });
    },
    isCreating: making.isPending,
    error: making.error,
    shown: wanted && shown,
    showFiles: (isShown) => setShown(isShown ? wanted : null),
  };
}

function agreedOn({ turn, made, mode }: Interview): Wanted | null {
  if (made) return mode === "skill" ? { skill_request: null } : { config: null };
  if (turn?.action === "ready_to_assemble") return { config: turn.config };
  return turn?.action === "ready_to_create_skill" ? { skill_request: turn.skill_request } : null;
}

function withEdits(agreed: Wanted, edits: Edits): Wanted {
  if ("config" in agreed) return { config: agreed.config && { ...agreed.config, ...edits } };
  return { skill_request: agreed.skill_request && { ...agreed.skill_request, ...edits } };
}
