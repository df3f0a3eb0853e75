import { render, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { HelpDialog } from "@/app/HelpDialog";
import { CreateKey } from "@/features/settings/CreateKey";
import { RunDrawer } from "@/features/skills/run/RunDrawer";
import { Confirm } from "@/ui/Confirm";
import { serve } from "./server";
import { detail } from "./skillViews";
import { openPage, withoutLayout } from "./workflowPage";

beforeEach(withoutLayout);

/** What lies between a dialog and the page. */
async function clickBeside(): Promise<void> {
  const [beside] = document.querySelectorAll("[data-base-ui-portal] > [role=presentation]");
  if (!beside) throw new Error("No dialog is open.");
  await userEvent.click(beside);
}

test("a key that is shown only once is not lost by a click beside it; Escape closes it", async () => {
  const requests = serve({
    "POST /api/v1/keys": { data: { id: "k1", name: "nightly", key: "forge_once" } },
    "GET /api/v1/keys": { data: [] },
  });
  const onOpenChange = vi.fn<(open: boolean) => void>();
  openPage(<CreateKey open onOpenChange={onOpenChange} />);
  await userEvent.type(await screen.findByLabelText("Name"), "nightly");
  await clickBeside();
  await userEvent.click(screen.getByRole("button", { name: "Create" }));
  expect(await screen.findByText("forge_once")).toBeInTheDocument();
  await clickBeside();
  expect(onOpenChange).not.toHaveBeenCalled();
  expect(requests.filter(({ method }) => method === "POST")).toHaveLength(1);
  await userEvent.keyboard("{Escape}");
  expect(onOpenChange).toHaveBeenCalledWith(false, expect.anything());
});

test("the input of a skill stays when somebody clicks beside the drawer; its button closes it", async () => {
  serve({ "GET /api/v1/bots": { data: [] } });
  const close = vi.fn();
  openPage(<RunDrawer skill={detail()} close={close} />);
  await userEvent.type(await screen.findByLabelText("Input"), " ");
  await clickBeside();
  expect(close).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole("button", { name: "Close" }));
  await waitFor(() => expect(close).toHaveBeenCalled());
});

test("a question that is asked back is left by a click beside it, and so is the help", async () => {
  const onOpenChange = vi.fn<(open: boolean) => void>();
  const asked = { open: true, onOpenChange, title: "Sure?", description: "", action: "Do it" };
  const { unmount } = render(<Confirm {...asked} onConfirm={() => undefined} />);
  await clickBeside();
  expect(onOpenChange).toHaveBeenCalledTimes(1);
  unmount();
  render(<HelpDialog open onOpenChange={onOpenChange} />);
  await clickBeside();
  expect(onOpenChange).toHaveBeenCalledTimes(2);
});
