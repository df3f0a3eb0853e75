import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { skillsQuery } from "@/api/skills";
import type { SkillCard } from "@/api/types";
import { Button } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { Modal } from "@/ui/Modal";
import { mentions } from "@/ui/mentions";
import { Refusal } from "@/ui/Refusal";
import { SearchField } from "@/ui/SearchField";
import { SkeletonRows } from "@/ui/Skeleton";
import { useSkills } from "./useSkills";

type Props = { slug: string; attached: readonly string[]; close: () => void };

/** Choose a skill from the library to attach. */
export function AttachSkill({ slug, attached, close }: Props) {
  const [typed, setTyped] = useState("");
  const skills = useQuery(skillsQuery);
  const { attach } = useSkills(slug);
  const free = (skills.data ?? []).filter((skill) => !attached.includes(skill.name) && isMeant(skill, typed));
  return (
    <Modal
      open
      onOpenChange={close}
      title="Attach a skill"
      description="A skill can only do what it was granted in the library."
      wide
    >
      <div className="mt-3 space-y-3">
        <search>
          <SearchField
            label="Search skills"
            placeholder="Search skills…"
            className="w-full"
            value={typed}
            onChange={setTyped}
          />
        </search>
        <Refusal error={attach.error} />
        {skills.isPending && <SkeletonRows rows={4} label="Loading library" />}
        {skills.isLoadingError && <ErrorState error={skills.error} retry={skills.refetch} />}
        {skills.data && free.length === 0 && <Nothing isFiltered={typed.trim() !== ""} />}
        <ul aria-label="Skills in the library" className="divide-y divide-line">
          {free.map((skill) => (
            <li key={skill.name} className="flex items-start gap-3 py-2">
              <div className="min-w-0 flex-1">
                <p className="mono font-semibold break-words">{skill.name}</p>
                <p className="line-clamp-2 break-words text-dim">{skill.description}</p>
                {skill.problem && <p className="break-words text-xs text-wait">{skill.problem}</p>}
              </div>
              <Button
                aria-label={`Attach ${skill.name}`}
                disabled={attach.isPending}
                onClick={() => attach.mutate({ slug, skill_name: skill.name })}
              >
                <Plus size={13} aria-hidden /> Attach
              </Button>
            </li>
          ))}
        </ul>
      </div>
    </Modal>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  return (
    <EmptyState
      title={isFiltered ? "No skills match" : "All skills are attached"}
      sentence="Write or install more skills in the library."
      action={
        <Link to="/skills" className="rounded-sm underline underline-offset-2">
          Open library
        </Link>
      }
    />
  );
}

const isMeant = ({ name, description, categories }: SkillCard, words: string): boolean =>
  mentions([name, description, ...categories], words);
