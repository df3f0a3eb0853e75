import { render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { useRef } from "react";
import { Shortcuts, shortcuts, useShortcut } from "@/ui/shortcuts";
import { useRowKeys } from "@/ui/useRowKeys";

let book: Shortcuts;
const run = vi.fn();
const bind = (keys: string) => book.bind({ keys, label: keys, group: "Test", run: () => run(keys) });

beforeEach(() => {
  book = new Shortcuts();
  run.mockReset();
  window.addEventListener("keydown", book.handle);
});
afterEach(() => window.removeEventListener("keydown", book.handle));

test("a key runs what is bound to it", async () => {
  bind("?");
  await userEvent.keyboard("?");
  expect(run).toHaveBeenCalledExactlyOnceWith("?");
});

test("two keys after each other are one shortcut", async () => {
  bind("g h");
  bind("h");
  await userEvent.keyboard("gh");
  expect(run.mock.calls).toEqual([["g h"]]);
  await userEvent.keyboard("h");
  expect(run.mock.calls).toEqual([["g h"], ["h"]]);
});

test("a sequence that takes too long is two single keys", () => {
  bind("g h");
  bind("h");
  const press = (key: string, at: number) => {
    const event = new KeyboardEvent("keydown", { key });
    Object.defineProperty(event, "timeStamp", { value: at });
    book.handle(event);
  };
  press("g", 0);
  press("h", 2000);
  expect(run.mock.calls).toEqual([["h"]]);
});

test("the last one bound wins, until it is unbound", async () => {
  book.bind({ keys: "a", label: "outer", group: "Test", run: () => run("outer") });
  const unbind = book.bind({ keys: "a", label: "inner", group: "Test", run: () => run("inner") });
  await userEvent.keyboard("a");
  unbind();
  await userEvent.keyboard("a");
  expect(run.mock.calls).toEqual([["inner"], ["outer"]]);
});

test("typing into a field runs nothing, except with Ctrl or Cmd", async () => {
  bind("a");
  bind("mod+k");
  render(<input aria-label="Name" />);
  await userEvent.type(screen.getByLabelText("Name"), "aaa");
  expect(run).not.toHaveBeenCalled();
  await userEvent.keyboard("{Control>}k{/Control}{Meta>}k{/Meta}");
  expect(run.mock.calls).toEqual([["mod+k"], ["mod+k"]]);
});

test("a dialog has the keyboard for itself", async () => {
  bind("x");
  render(
    <div role="dialog">
      <button type="button">Cancel</button>
    </div>,
  );
  screen.getByRole("button").focus();
  await userEvent.keyboard("x");
  expect(run).not.toHaveBeenCalled();
});

test("a component's shortcut lives as long as the component, and always runs the latest function", async () => {
  const Bound = ({ value }: { value: string }) => {
    useShortcut("b", { label: "Say it", group: "Test" }, () => run(value));
    return null;
  };
  window.addEventListener("keydown", shortcuts.handle);
  const { rerender, unmount } = render(<Bound value="first" />);
  rerender(<Bound value="second" />);
  await userEvent.keyboard("b");
  unmount();
  await userEvent.keyboard("b");
  window.removeEventListener("keydown", shortcuts.handle);
  expect(run.mock.calls).toEqual([["second"]]);
});

test("J and K walk through the rows and stop at the ends", async () => {
  const List = () => {
    const box = useRef<HTMLDivElement>(null);
    useRowKeys(box);
    return (
      <div ref={box}>
        <a data-row href="#1">
          one
        </a>
        <a data-row href="#2">
          two
        </a>
      </div>
    );
  };
  window.addEventListener("keydown", shortcuts.handle);
  render(<List />);
  await userEvent.keyboard("j");
  expect(screen.getByText("one")).toHaveFocus();
  await userEvent.keyboard("jj");
  expect(screen.getByText("two")).toHaveFocus();
  await userEvent.keyboard("kkk");
  expect(screen.getByText("one")).toHaveFocus();
  window.removeEventListener("keydown", shortcuts.handle);
});
