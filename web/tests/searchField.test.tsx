import { render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { useState } from "react";
import { SearchField } from "@/ui/SearchField";
import { shortcuts } from "@/ui/shortcuts";

function Search({ group, clearLabel }: { group?: string; clearLabel?: string }) {
  const [words, setWords] = useState("cats");
  return (
    <SearchField
      label="Find"
      placeholder="Find…"
      value={words}
      onChange={setWords}
      {...(group && { group })}
      {...(clearLabel && { clearLabel })}
    />
  );
}

test("a search on a page has a key, and one in a dialog has none", () => {
  const { unmount } = render(<Search />);
  expect(shortcuts.list()).toEqual([]);
  unmount();
  render(<Search group="Runs" />);
  expect(shortcuts.list()).toMatchObject([{ keys: "/", label: "Find", group: "Runs" }]);
});

test("whoever empties a search goes on typing in it", async () => {
  render(<Search clearLabel="Clear the filter" />);
  await userEvent.click(screen.getByRole("button", { name: "Clear the filter" }));
  expect(screen.getByRole("searchbox")).toHaveValue("");
  expect(screen.getByRole("searchbox")).toHaveFocus();
  expect(screen.queryByRole("button")).toBeNull();
});
