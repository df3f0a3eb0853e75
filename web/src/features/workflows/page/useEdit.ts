import { useNavigate } from "@tanstack/react-router";
import { useShortcut } from "@/ui/shortcuts";

/** Bind E to open the editor. */
export function useEdit(ref: string): void {
  const navigate = useNavigate();
  useShortcut("e", { label: "Edit workflow", group: "Workflow" }, () => {
    void navigate({ to: "/workflows/$ref/edit", params: { ref } });
  });
}
