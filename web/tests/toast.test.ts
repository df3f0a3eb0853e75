import { QueryClient } from "@tanstack/react-query";
import { waitFor } from "@testing-library/react";
import { runs } from "@/features/runs/area";
import { toast } from "@/ui/toast";
import { serve } from "./server";

test("a self-test that cannot be started from the palette is told", async () => {
  const errors = [{ code: "busy", message: "Too many runs.", hint: "Wait." }];
  serve({ "POST /api/v1/runs": { status: 429, errors } });
  const commands = runs.commands({ go: vi.fn(), queries: new QueryClient() });
  commands.find(({ id }) => id === "self-test")?.run();
  await waitFor(() =>
    expect(toast.list()).toMatchObject([{ tone: "bad", message: "Too many runs.", hint: "Wait." }]),
  );
});
