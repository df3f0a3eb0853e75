import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query";
import { render, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { workflowQuery } from "@/api/workflows";
import { Enabled } from "@/features/workflows/Enabled";
import { serve } from "./server";
import { workflow } from "./workflowViews";

function Shown() {
  const { data } = useQuery(workflowQuery("digest"));
  return data && <Enabled workflow={data} />;
}

test("a switch that was taken does not jump back while the workflow is read again", async () => {
  let isRead = false;
  serve({
    "GET /api/v1/workflows/digest": () => {
      if (isRead) return new Promise(() => undefined);
      isRead = true;
      return { data: workflow() };
    },
    "PATCH /api/v1/workflows/w1": { data: workflow({ is_enabled: false }) },
  });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <Shown />
    </QueryClientProvider>,
  );
  const triggers = await screen.findByRole("switch", { name: "digest: triggers" });
  await userEvent.click(triggers);
  await waitFor(() => expect(triggers).toBeEnabled());
  expect(triggers).not.toBeChecked();
});
