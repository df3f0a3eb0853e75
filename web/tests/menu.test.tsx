import { render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { Copy, Trash2 } from "lucide-react";
import { Menu } from "@/ui/Menu";

const copy = vi.fn();
const remove = vi.fn();

function show() {
  copy.mockReset();
  remove.mockReset();
  const groups = [
    [{ label: "Copy", icon: Copy, run: copy }],
    [{ label: "Remove", icon: Trash2, isDanger: true, run: remove }],
  ];
  render(
    <>
      <Menu label="More" groups={groups} />
      <p>elsewhere</p>
    </>,
  );
  return screen.getByRole("button", { name: "More" });
}

test("a menu works by keyboard, and gives the focus back", async () => {
  const button = show();
  await userEvent.tab();
  await userEvent.keyboard("{Enter}");
  expect(screen.getByRole("menuitem", { name: "Copy" })).toHaveFocus();
  await userEvent.keyboard("{ArrowDown}{ArrowDown}{ArrowUp}");
  expect(screen.getByRole("menuitem", { name: "Remove" })).toHaveFocus();
  await userEvent.keyboard("{Enter}");
  expect(remove).toHaveBeenCalledOnce();
  expect(screen.queryByRole("menu")).toBeNull();
  expect(button).toHaveFocus();
});

test.each(["{Escape}", "{Tab}"])("%s closes a menu and does nothing", async (key) => {
  const button = show();
  await userEvent.click(button);
  await userEvent.keyboard(key);
  expect(screen.queryByRole("menu")).toBeNull();
  expect(button).toHaveFocus();
  expect(copy).not.toHaveBeenCalled();
});

test("a press elsewhere closes a menu", async () => {
  const button = show();
  await userEvent.click(button);
  await userEvent.click(screen.getByText("elsewhere"));
  expect(screen.queryByRole("menu")).toBeNull();
});
