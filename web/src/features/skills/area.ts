import { Download, FilePlus, Wrench } from "lucide-react";
import { skillsQuery } from "@/api/skills";
import type { Area, AreaCommand, ShellActions } from "@/area";
import { editSkillRoute, newSkillRoute, skillRoute, skillsRoute } from "./routes";

export const skills = {
  label: "Skills",
  routes: [skillsRoute, newSkillRoute, editSkillRoute, skillRoute],
  nav: { to: "/skills", icon: Wrench, key: "s" },
  commands: (shell) => [...wishes(shell), ...known(shell)],
} satisfies Area;

function wishes({ go }: ShellActions): AreaCommand[] {
  return [
    {
      id: "install-skill",
      label: "Install a skill",
      keywords: "new add zip git registry folder import",
      icon: Download,
      run: () => go("/skills?install=true"),
    },
    {
      id: "new-skill",
      label: "Write a skill",
      keywords: "new create editor script prompt",
      icon: FilePlus,
      run: () => go("/skills/_new"),
    },
  ];
}

/** Only skills that are already cached: the palette makes no requests. */
function known({ go, queries }: ShellActions): AreaCommand[] {
  const found = queries.getQueryData(skillsQuery.queryKey) ?? [];
  return found.map(({ name, kind, categories }) => ({
    id: `skill-${name}`,
    label: name,
    keywords: `skill ${kind} ${categories.join(" ")}`,
    icon: Wrench,
    run: () => go(`/skills/${name}`),
  }));
}
