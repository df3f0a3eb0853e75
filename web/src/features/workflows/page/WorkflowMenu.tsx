import { Download, Trash2 } from "lucide-react";
import { useState } from "react";
import type { WorkflowDetail } from "@/api/types";
import { Menu } from "@/ui/Menu";
import { saveAs } from "@/ui/saveAs";
import { DeleteWorkflow } from "./DeleteWorkflow";

export function WorkflowMenu({ workflow }: { workflow: WorkflowDetail }) {
  const [isDeleting, setDeleting] = useState(false);
  const { name, source } = workflow;
  const exported = () => saveAs(new Blob([source], { type: "application/yaml" }), `${name}.yaml`);
  return (
    <>
      <Menu
        label="More"
        groups={[
          [{ label: "Export as YAML", icon: Download, run: exported }],
          [{ label: "Delete…", icon: Trash2, isDanger: true, run: () => setDeleting(true) }],
        ]}
      />
      {isDeleting && <DeleteWorkflow workflow={workflow} close={() => setDeleting(false)} />}
    </>
  );
}
