import { fireEvent, render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { useState } from "react";
import { boxesOf, shownAs, stepsIn } from "@/features/workflows/canvas/boxes";
import { Canvas } from "@/features/workflows/canvas/Canvas";
import type { CanvasView } from "@/features/workflows/canvas/contract";
import { edgesOf, nodesOf } from "@/features/workflows/canvas/drawing";
import { layOut, type Rect } from "@/features/workflows/canvas/layout";
import { nearest } from "@/features/workflows/canvas/nearest";
import type { Definition, Step } from "@/features/workflows/definition/model";
import { withoutLayout } from "./workflowPage";

const wait = (id: string, after: string[] = [], ui?: Step["ui"]): Step => ({
  id,
  type: "wait",
  depends_on: after,
  config: { type: "wait", seconds: 1 },
  ui,
});
const loop = (id: string, body: string[], after: string[] = [], ui?: Step["ui"]): Step => ({
  id,
  type: "loop",
  depends_on: after,
  config: { type: "loop", items: [], body_steps: body },
  ui,
});
const flow = (steps: Step[], last: string[] = []): Definition => ({ name: "flow", steps, finally: last });

const NIGHTLY = flow(
  [
    wait("fetch"),
    loop("each", ["read", "inner"], ["fetch"]),
    wait("read"),
    loop("inner", ["deep"], ["read"]),
    wait("deep"),
    wait("tell", ["each"]),
    wait("clean"),
  ],
  ["clean"],
);

const rectOf = (rects: ReadonlyMap<string, Rect>, id: string): Rect => {
  const rect = rects.get(id);
  if (!rect) throw new Error(`There is no ${id}.`);
  return rect;
};
const contains = (outer: Rect, inner: Rect): boolean =>
  inner.x >= outer.x &&
  inner.y >= outer.y &&
  inner.x + inner.width <= outer.x + outer.width &&
  inner.y + inner.height <= outer.y + outer.height;
const overlap = (one: Rect, other: Rect): boolean =>
  one.x < other.x + other.width &&
  other.x < one.x + one.width &&
  one.y < other.y + other.height &&
  other.y < one.y + one.height;

test("frames lie around what is in them, later steps below earlier ones, and finally below all", () => {
  const { rects } = layOut(NIGHTLY);
  const at = (id: string) => rectOf(rects, id);
  expect(contains(at("each"), at("read"))).toBe(true);
  expect(contains(at("each"), at("inner"))).toBe(true);
  expect(contains(at("inner"), at("deep"))).toBe(true);
  expect(at("tell").y).toBeGreaterThan(at("each").y + at("each").height);
  expect(contains(at("finally:"), at("clean"))).toBe(true);
  expect(at("finally:").y).toBeGreaterThan(at("tell").y + at("tell").height);
});

test("no two steps are drawn over each other, however many there are", () => {
  const steps = Array.from({ length: 300 }, (_, index) =>
    wait(`s${index}`, index === 0 ? [] : [`s${Math.floor((index - 1) / 3)}`]),
  );
  const rects = [...layOut(flow(steps)).rects.values()];
  const clashes = rects.flatMap((one, index) =>
    rects.slice(index + 1).filter((other) => overlap(one, other)),
  );
  expect(clashes).toEqual([]);
});

test.each([[["yes", "no"]], [["no", "yes"]]])(
  "what runs if it holds is at the left, where its way out is; the other at the right (%s)",
  (order) => {
    const choose: Step = {
      id: "choose",
      type: "conditional",
      config: { type: "conditional", condition: "true", then_steps: ["yes"], else_steps: ["no"] },
    };
    const { rects } = layOut(flow([choose, ...order.map((id) => wait(id, ["choose"]))]));
    expect(rectOf(rects, "yes").x).toBeLessThan(rectOf(rects, "no").x);
  },
);

test("what follows a condition either way is between its two ways", () => {
  const choose: Step = {
    id: "choose",
    type: "conditional",
    config: { type: "conditional", condition: "true", then_steps: ["yes"], else_steps: ["no"] },
  };
  const { rects } = layOut(flow([choose, wait("next", ["choose"]), wait("yes"), wait("no")]));
  const places = ["yes", "next", "no"].map((id) => rectOf(rects, id).x);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

test("what people placed stays there, and a step they did not place is beside it", () => {
  const { rects } = layOut(flow([wait("a", [], { position: { x: 500, y: 300 } }), wait("b", ["a"])]));
  expect(rectOf(rects, "a")).toMatchObject({ x: 500, y: 300 });
  expect(rectOf(rects, "b").x).toBe(500);
  expect(rectOf(rects, "b").y).toBeGreaterThan(300);
});

test("a group is one frame, and folded one box whose links are those of its steps", () => {
  const together = (collapsed: boolean) => ({ group: "Read", collapsed });
  const steps = (isFolded: boolean) => [
    wait("a"),
    wait("b", ["a"], together(isFolded)),
    wait("c", ["b"], together(isFolded)),
    wait("d", ["c"]),
  ];
  const [, open] = boxesOf(flow(steps(false)));
  expect(open).toMatchObject({ id: "group::Read", kind: "group", isFolded: false });
  const folded = layOut(flow(steps(true)));
  expect(edgesOf(folded).map(({ source, target }) => [source, target])).toEqual([
    ["a", "group::Read"],
    ["group::Read", "d"],
  ]);
  expect(shownAs(folded.boxes).get("c")).toBe("group::Read");
  expect(folded.boxes.flatMap(stepsIn)).toEqual(["a", "b", "c", "d"]);
});

test("a folded loop says what is loudest in it", () => {
  const definition = flow([loop("each", ["a", "b"], [], { collapsed: true }), wait("a"), wait("b")]);
  const marks = { a: { status: "completed" }, b: { status: "failed" } } as const;
  const [node] = nodesOf(layOut(definition), { marks, isEditable: false }, new Map());
  expect(node?.data.label).toBe("each, Loop step, folded, failed");
});

test("nodes that say what they said before are the same", () => {
  const layout = layOut(NIGHTLY);
  const marks = { fetch: { status: "running" } } as const;
  const before = nodesOf(layout, { marks, isEditable: false }, new Map());
  const known = new Map(before.map((node) => [node.id, node]));
  const after = nodesOf(layout, { marks: { fetch: { status: "completed" } }, isEditable: false }, known);
  expect(after.filter((node, index) => node !== before[index]).map(({ id }) => id)).toEqual(["fetch"]);
});

test("an arrow leads to the nearest box that way, and at the edge nowhere", () => {
  const size = { width: 100, height: 40 };
  const rects = new Map([
    ["top", { x: 0, y: 0, ...size }],
    ["left", { x: -80, y: 100, ...size }],
    ["right", { x: 90, y: 100, ...size }],
    ["far", { x: 0, y: 300, ...size }],
  ]);
  expect(nearest(rects, "top", "down")).toBe("left");
  expect(nearest(rects, "left", "right")).toBe("right");
  expect(nearest(rects, "far", "up")).toBe("left");
  expect(nearest(rects, "top", "up")).toBeNull();
});

beforeEach(withoutLayout);

function Drawn({ onOpen, definition = NIGHTLY }: Pick<CanvasView, "onOpen"> & { definition?: Definition }) {
  const [present, setPresent] = useState(definition);
  const [selected, setSelected] = useState<readonly string[]>([]);
  return (
    <div style={{ width: 800, height: 600 }}>
      <Canvas
        definition={present}
        selected={selected}
        onSelect={setSelected}
        onOpen={onOpen}
        onChange={setPresent}
      />
    </div>
  );
}

test("by keyboard: arrows walk, Enter opens, Ctrl-D copies, Delete takes away", async () => {
  const opened = vi.fn();
  render(<Drawn onOpen={opened} definition={flow([wait("a"), wait("b", ["a"])])} />);
  const first = await screen.findByRole("button", { name: /^a\s*Wait/, hidden: true });
  await userEvent.tab();
  expect(first).toHaveFocus();
  await userEvent.keyboard("{ArrowDown}");
  await vi.waitFor(() => expect(document.activeElement).toHaveAccessibleName(/^b\s*Wait/));
  await userEvent.keyboard("{Enter}");
  expect(opened).toHaveBeenCalledWith("b");
  expect(document.activeElement).toHaveAttribute("aria-pressed", "true");
  await userEvent.keyboard("{Control>}d{/Control}");
  expect(await screen.findByRole("button", { name: /^b_2\s*Wait/, hidden: true })).toHaveAttribute(
    "aria-pressed",
    "true",
  );
  await userEvent.keyboard("{Delete}");
  expect(screen.queryByRole("button", { name: /^b_2\s*Wait/, hidden: true })).toBeNull();
  expect(screen.getByRole("button", { name: /^b\s*Wait/, hidden: true })).toBeInTheDocument();
});

test("who only looks folds a loop for themselves, and is offered no links to draw", async () => {
  render(
    <div style={{ width: 800, height: 600 }}>
      <Canvas definition={NIGHTLY} selected={["each"]} onSelect={() => undefined} />
    </div>,
  );
  fireEvent.click(await screen.findByLabelText("Fold each"));
  expect(await screen.findByLabelText("Unfold each")).toBeInTheDocument();
  expect(screen.queryByText("read")).toBeNull();
  expect(document.querySelector(".react-flow__handle.connectable")).toBeNull();
});
