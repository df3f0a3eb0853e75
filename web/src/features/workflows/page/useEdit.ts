import { useNavigate } from "@tanstack/react-router";
import { useShortcut } from "@/ui/shortcuts";

/** E leads to the editor. */
export function useEdit(ref: string): void {
  const navigate = useNavigate();
  useShortcut("e", { label: "Edit it", group: "Workflow" }, () => {
    void navigate({ to: "/workflows/$ref/edit", params: { ref } });
  });
}
