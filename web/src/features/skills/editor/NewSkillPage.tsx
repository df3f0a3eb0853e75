import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { createSkill, frameSkill, refreshSkill, skillQuery } from "@/api/skills";
import { Page } from "@/ui/Page";
import { toast } from "@/ui/toast";
import { CRUMBS } from "../words";
import { Begin } from "./Begin";
import { begun, type Draft } from "./draft";
import { SkillEditor } from "./SkillEditor";

/** Create a skill: first its name and kind, then its files. It exists once it is saved. */
export function NewSkillPage() {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [draft, setDraft] = useState<Draft | null>(null);
  const frame = useMutation({
    mutationFn: frameSkill,
    onSuccess: ({ name, files }) => {
      setName(name);
      setDraft(begun({ texts: files, hash: null }));
    },
  });
  const create = useMutation({
    mutationFn: createSkill,
    meta: { isShownInPlace: true },
    onSuccess: (made) => {
      cache.setQueryData(skillQuery(made.name).queryKey, made);
      refreshSkill(cache, { skill: made.name, part: "skill" });
      toast.ok(`Saved ${made.name}.`);
      return navigate({
        to: "/skills/$name/edit",
        params: { name: made.name },
        replace: true,
        ignoreBlocker: true,
      });
    },
  });
  if (!draft) {
    return (
      <Page title="New skill" crumbs={CRUMBS}>
        <Begin isPending={frame.isPending} begin={frame.mutate} />
      </Page>
    );
  }
  return (
    <SkillEditor
      name={name}
      draft={draft}
      setDraft={(change) => setDraft((before) => before && change(before))}
      saving={{
        isPending: create.isPending,
        error: create.error,
        save: () => create.mutate({ name, files: { ...draft.texts } }),
      }}
    />
  );
}
