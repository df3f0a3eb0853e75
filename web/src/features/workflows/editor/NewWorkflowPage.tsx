import { Page } from "@/ui/Page";

export function NewWorkflowPage() {
  return (
    <Page title="Workflow">
      <p className="p-4 text-dim">The editor comes here.</p>
    </Page>
  );
}
