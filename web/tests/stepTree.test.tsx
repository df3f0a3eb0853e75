import { render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { useState } from "react";
import { rowsOf } from "@/features/workflows/run/rows";
import { StepTree } from "@/features/workflows/run/StepTree";
import { withoutLayout } from "./workflowPage";
import { DIGEST, step } from "./workflowViews";

const STEPS = new Map(["gather", "each", "each[0]/fetch", "each[1]/fetch"].map((key) => [key, step(key)]));

beforeEach(() => {
  withoutLayout();
  // Without a height nothing would be seen, so nothing would be drawn.
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(600);
});
afterEach(() => void vi.restoreAllMocks());

/** The tree of a run of `gather` and twice `each`; what is given back was selected, in order. */
function openTree(first: string | null = null) {
  const chosen: string[] = [];
  function Tree() {
    const [selected, setSelected] = useState(first);
    const [turned, setTurned] = useState<readonly string[]>([]);
    return (
      <StepTree
        rows={rowsOf(DIGEST, STEPS, { turned: new Set(turned), selected })}
        selected={selected}
        select={(id) => {
          chosen.push(id);
          setSelected(id);
        }}
        turn={(id) => setTurned([...turned, id])}
      />
    );
  }
  render(<Tree />);
  screen.getByRole("tree").focus();
  return chosen;
}

/** The row that a screen reader says. */
const active = () =>
  document.getElementById(screen.getByRole("tree").getAttribute("aria-activedescendant") ?? "");

test("arrows walk over steps and iterations, and choose nothing", async () => {
  const chosen = openTree();
  await userEvent.keyboard("{ArrowDown}{ArrowDown}{ArrowDown}");
  expect(active()).toHaveTextContent(/Iteration 1/);
  await userEvent.keyboard("{Home}");
  expect(active()).toHaveTextContent(/Gather/);
  await userEvent.keyboard("{End}");
  expect(active()).toHaveTextContent(/tell/);
  expect(chosen).toEqual([]);
});

test("Enter chooses a step, and unfolds an iteration", async () => {
  const chosen = openTree();
  await userEvent.keyboard("{ArrowDown}{ArrowDown}{ArrowDown}{Enter}");
  expect(active()).toHaveAttribute("aria-expanded", "true");
  expect(chosen).toEqual([]);
  await userEvent.keyboard("{ArrowDown}{Enter}");
  expect(chosen).toEqual(["each[0]/fetch"]);
  expect(active()).toHaveAttribute("aria-selected", "true");
});

test("arrows go on from what was clicked, and from what was chosen elsewhere", async () => {
  const chosen = openTree("gather");
  expect(active()).toHaveTextContent(/Gather/);
  await userEvent.click(screen.getByRole("treeitem", { name: /Iteration 2/ }));
  await userEvent.keyboard("{ArrowUp}");
  expect(active()).toHaveTextContent(/Iteration 1/);
  expect(chosen).toEqual([]);
});
