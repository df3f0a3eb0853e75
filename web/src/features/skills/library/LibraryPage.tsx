import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Download, Hammer, Plus } from "lucide-react";
import { lazy, Suspense, useDeferredValue, useState } from "react";
import { skillsQuery } from "@/api/skills";
import type { SkillCard as Skill } from "@/api/types";
import { Button, buttonClass } from "@/ui/Button";
import { CardGrid } from "@/ui/CardGrid";
import { count } from "@/ui/count";
import { EmptyState } from "@/ui/EmptyState";
import { ErrorState } from "@/ui/ErrorState";
import { Kbd } from "@/ui/Kbd";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";
import { useShortcut } from "@/ui/shortcuts";
import { Filters } from "./Filters";
import { SkillCard } from "./SkillCard";
import { fits } from "./shelf";

const route = getRouteApi("/shell/skills");
const InstallDialog = lazy(() =>
  import("../install/InstallDialog").then(({ InstallDialog }) => ({ default: InstallDialog })),
);

/** All skills with their trust tier and status. */
export function LibraryPage() {
  const { install: isInstalling, ...filter } = route.useSearch();
  const skills = useQuery(skillsQuery);
  const navigate = useNavigate();
  const [words, setWords] = useState(filter.q ?? "");
  const q = useDeferredValue(words.trim());
  const setInstalling = (isOpen: boolean) =>
    void navigate({ to: "/skills", search: { ...filter, ...(isOpen && { install: true }) }, replace: true });
  useShortcut("c", { label: "New skill", group: "Skills" }, () => void navigate({ to: "/skills/_new" }));
  useShortcut("i", { label: "Install a skill", group: "Skills" }, () => setInstalling(true));

  const isFirst = skills.data?.length === 0;
  const found = skills.data?.filter((skill) => fits(skill, { ...filter, q })) ?? [];
  const install = (look: "plain" | "primary") => (
    <Button look={look} onClick={() => setInstalling(true)}>
      <Download size={13} aria-hidden />{" "}
      <span className={look === "plain" ? "max-sm:sr-only" : ""}>Install</span> <Kbd keys="i" />
    </Button>
  );
  return (
    <Page
      title="Skills"
      state={skills.data && !isFirst && <Numbers skills={skills.data} />}
      actions={
        <>
          <Link to="/forge" search={{ mode: "skill" }} aria-label="Talk to Forge" className={buttonClass()}>
            <Hammer size={13} aria-hidden /> <span className="max-sm:hidden">Talk to Forge</span>
          </Link>
          {!isFirst && install("plain")}
          <Link to="/skills/_new" className={buttonClass(isFirst ? "plain" : "primary")}>
            <Plus size={13} aria-hidden /> New skill <Kbd keys="c" />
          </Link>
        </>
      }
    >
      <Filters filter={filter} words={words} setWords={setWords} />
      {skills.isPending && <SkeletonRows rows={6} label="Loading skills" />}
      {skills.isLoadingError && <ErrorState error={skills.error} retry={skills.refetch} />}
      {isFirst && (
        <EmptyState
          title="No skills yet"
          sentence="A skill extends your bots: instructions they follow, or a script that only has the access you grant. Install one from a zip, a repository or a registry, or write your own."
          action={install("primary")}
          example={
            <>
              or from a terminal: <code className="mono">forge skill install ./my-skill</code>
            </>
          }
        />
      )}
      {skills.data && !isFirst && found.length === 0 && (
        <EmptyState
          title={q ? `No skills match “${q}”` : "No skills match"}
          sentence="The search covers name, description and categories. Change or clear the filters."
        />
      )}
      {found.length > 0 && (
        <CardGrid label="Skills" said={count(found.length, "skill")}>
          {found.map((skill) => (
            <li key={skill.name} className="[contain-intrinsic-size:auto_150px] [content-visibility:auto]">
              <SkillCard skill={skill} />
            </li>
          ))}
        </CardGrid>
      )}
      {isInstalling && (
        <Suspense>
          <InstallDialog close={() => setInstalling(false)} />
        </Suspense>
      )}
    </Page>
  );
}

/** The number of skills, with links to those that need attention. */
function Numbers({ skills }: { skills: readonly Skill[] }) {
  const review = skills.filter(({ state }) => state === "review").length;
  const broken = skills.filter(({ state }) => state === "broken").length;
  return (
    <span className="flex items-center gap-3 text-xs whitespace-nowrap text-dim max-sm:hidden">
      <span className="mono">{skills.length}</span>
      {review > 0 && (
        <Link to="/skills" search={{ state: "review" }} className="rounded-sm text-wait hover:underline">
          {review} {review === 1 ? "needs" : "need"} review
        </Link>
      )}
      {broken > 0 && (
        <Link to="/skills" search={{ state: "broken" }} className="rounded-sm text-bad hover:underline">
          {broken} broken
        </Link>
      )}
    </span>
  );
}
