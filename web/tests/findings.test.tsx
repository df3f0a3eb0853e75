/** The findings of an audit, walked through and filtered. */
import { render, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { useState } from "react";
import { EVERYTHING, type Filter } from "@/features/runs/audit/filter";
import { type CheckRow, NOT_STARTED } from "@/features/runs/audit/fold";
import { Report } from "@/features/runs/audit/Report";
import { NOTHING_YET } from "@/features/runs/fold";
import { shortcuts } from "@/ui/shortcuts";
import { finding, result } from "./audits";

const VIEW = { run: NOTHING_YET, audit: NOT_STARTED };
const found = [finding(1), finding(2), finding(3)];
const rows: CheckRow[] = [
  { code: "A4", state: "ended", check: { result: result("A4", found), findings: found, total: 3 } },
];

beforeEach(() => {
  // jsdom has no layout: nothing would be seen, so nothing would be drawn.
  vi.spyOn(HTMLElement.prototype, "offsetHeight", "get").mockReturnValue(100);
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(1000);
  window.addEventListener("keydown", shortcuts.handle);
});
afterEach(() => {
  vi.restoreAllMocks();
  window.removeEventListener("keydown", shortcuts.handle);
});

function Found() {
  const [filter, setFilter] = useState<Filter>(EVERYTHING);
  const change = (changed: Partial<Filter>) => setFilter((before) => ({ ...before, ...changed }));
  return (
    <Report rows={rows} view={VIEW} isOver filter={filter} change={change} isHidden={false} choice={null} />
  );
}

const part = (number: number) =>
  screen.getByRole("article", { name: `A4, fail: app/part_${number}.py:${number}` });

test("J and K walk through the findings", async () => {
  render(<Found />);
  await userEvent.keyboard("jj");
  await waitFor(() => expect(part(2)).toHaveFocus());
  await userEvent.keyboard("k");
  await waitFor(() => expect(part(1)).toHaveFocus());
});

test("the filter keeps the focus, whatever it leaves of the findings", async () => {
  render(<Found />);
  await userEvent.keyboard("j/part_2");
  const filter = screen.getByRole("searchbox", { name: "Filter findings" });
  await waitFor(() => expect(screen.getAllByRole("article")).toEqual([part(2)]));
  expect(filter).toHaveFocus();
  expect(filter).toHaveValue("part_2");
});
