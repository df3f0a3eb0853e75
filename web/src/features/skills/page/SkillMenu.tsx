import { useMutation } from "@tanstack/react-query";
import { Download, RefreshCw, Trash2 } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { fetchUpdate } from "@/api/skillStages";
import { exportSkill } from "@/api/skills";
import type { SkillDetail } from "@/api/types";
import { Menu, type MenuItem } from "@/ui/Menu";
import { saveAs } from "@/ui/saveAs";
import { toast } from "@/ui/toast";
import { hasUpdates } from "../words";
import { RemoveSkill } from "./RemoveSkill";

const InstallDialog = lazy(() =>
  import("../install/InstallDialog").then(({ InstallDialog }) => ({ default: InstallDialog })),
);

export function SkillMenu({ skill }: { skill: SkillDetail }) {
  const { name } = skill;
  const [isRemoving, setRemoving] = useState(false);
  const update = useMutation({
    mutationFn: () => fetchUpdate(name),
    onSuccess: ({ skills }) => {
      if (skills.every(({ is_same }) => is_same)) {
        toast.ok(`${name} is up to date.`);
        update.reset();
      }
    },
  });
  const save = useMutation({
    mutationFn: () => exportSkill(name),
    onSuccess: (archive) => saveAs(archive, `${name}.zip`),
  });
  const away: MenuItem[] = [{ label: "Export", icon: Download, run: () => save.mutate() }];
  if (hasUpdates(skill.source)) {
    away.unshift({ label: "Check for updates", icon: RefreshCw, run: () => update.mutate() });
  }
  const groups: MenuItem[][] = [
    away,
    [{ label: "Remove…", icon: Trash2, isDanger: true, run: () => setRemoving(true) }],
  ];
  return (
    <>
      <Menu label="More" groups={groups} />
      {isRemoving && <RemoveSkill skill={skill} close={() => setRemoving(false)} />}
      {update.data && (
        <Suspense>
          <InstallDialog stage={update.data} close={() => update.reset()} />
        </Suspense>
      )}
    </>
  );
}
