import { QueryClient, QueryClientProvider, useQuery } from "@tanstack/react-query";
import { render, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { useState } from "react";
import type { FileState } from "@/api/types";
import { fileStateQuery } from "@/api/versions";
import { afterSave, baseOf, type Draft, edited, isOutdated, withDraft } from "@/features/bots/soul/draft";
import { FileEditor } from "@/features/bots/soul/FileEditor";
import type { Mistake } from "@/ui/editor/mistake";
import { Toaster } from "@/ui/Toaster";
import { beWide, diff, file } from "./bots";
import { serve } from "./server";

/** The real editor draws with the browser's layout, which jsdom has not; its own test is in a browser. */
vi.mock("@/ui/editor/Editor", () => ({
  Editor: ({
    label,
    text,
    marks,
    onChange,
  }: {
    label: string;
    text: string;
    marks: readonly Mistake[];
    onChange: (text: string) => void;
  }) => (
    <textarea
      aria-label={label}
      data-marks={marks.map(({ line }) => line).join()}
      value={text}
      onChange={(event) => onChange(event.target.value)}
    />
  ),
}));

const one = file("one");

test("there is a draft only while the text is another", () => {
  const draft = edited(undefined, "one more", one);
  expect(draft).toEqual({ text: "one more", base: { text: "one", hash: "hash of one", version: 1 } });
  expect(edited(draft, "one", one)).toBeUndefined();
});

test("a draft stays with what it was begun from, whatever becomes of the file", () => {
  const draft = edited(undefined, "mine", one);
  const changed = edited(draft, "mine too", file("theirs", { version: 2 }));
  expect(changed?.base).toEqual(baseOf(one));
  expect([isOutdated(changed, one), isOutdated(changed, file("theirs")), isOutdated(undefined, one)]).toEqual(
    [false, true, false],
  );
});

test("what was typed while it was saved goes on from what was saved", () => {
  const draft: Draft = { text: "saved and more", base: baseOf(one) };
  const saved = file("saved", { version: 2 });
  expect(afterSave(draft, "saved", saved)).toEqual({ text: "saved and more", base: baseOf(saved) });
  expect(afterSave({ ...draft, text: "saved" }, "saved", saved)).toBeUndefined();
});

test("the drafts of other files are left alone", () => {
  const mine: Draft = { text: "a", base: baseOf(one) };
  expect(withDraft({ user: mine }, "soul", mine)).toEqual({ user: mine, soul: mine });
  expect(withDraft({ user: mine, soul: mine }, "soul", undefined)).toEqual({ user: mine });
});

/** The editor over a server that keeps one file; `disk.now` is what somebody else may change. */
function show(start: FileState = one) {
  beWide();
  const disk = { now: start };
  const path = "/api/v1/bots/b/soul";
  const requests = serve({
    [`GET ${path}`]: () => ({ data: disk.now }),
    [`GET ${path}/diff`]: { data: diff({ left: "version 1", right: "the file on disk" }) },
    [`POST ${path}/check`]: {
      data: [{ file: "soul", line: 3, column: 1, message: "No.", is_warning: false }],
    },
    [`POST ${path}/accept`]: () => {
      disk.now = { ...disk.now, is_accepted: true, diff: null, version: 2 };
      return { data: disk.now };
    },
    [`PUT ${path}`]: () => answerSave(),
  });
  let saves = 0;
  const answerSave = () => {
    const wasOther = disk.now !== start && saves++ === 0;
    if (!wasOther) return { data: file("saved", { version: 3 }) };
    const detail = { current: disk.now, theirs: diff(), yours: diff() };
    return { status: 409, errors: [{ code: "file_changed", message: "Changed.", detail }] };
  };
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <QueryClientProvider client={client}>
      <Host />
      <Toaster />
    </QueryClientProvider>,
  );
  const changeOutside = (state: FileState) => {
    disk.now = state;
    return client.invalidateQueries({ queryKey: fileStateQuery("b", "soul").queryKey });
  };
  return { requests, changeOutside };
}

function Host() {
  const state = useQuery(fileStateQuery("b", "soul")).data;
  const [draft, setDraft] = useState<Draft | undefined>();
  return (
    state && <FileEditor slug="b" state={state} startLine={undefined} draft={draft} setDraft={setDraft} />
  );
}

const text = () => screen.findByRole<HTMLTextAreaElement>("textbox", { name: "Text of SOUL.md" });
const sent = async (requests: Request[], method: string, ending: string) =>
  Promise.all(
    requests
      .filter((request) => request.method === method && request.url.endsWith(ending))
      .map((request) => request.clone().json()),
  );

test("whoever has typed nothing sees the file as it is", async () => {
  const { changeOutside } = show();
  expect(await text()).toHaveValue("one");
  await changeOutside(file("theirs", { version: 2 }));
  await waitFor(async () => expect(await text()).toHaveValue("theirs"));
});

test("what somebody types is never replaced, and they are told", async () => {
  const { changeOutside } = show();
  await userEvent.type(await text(), " mine");
  await changeOutside(file("theirs", { version: 2 }));
  expect(await screen.findByText(/was changed while you were editing/)).toBeInTheDocument();
  expect(await text()).toHaveValue("one mine");
  await userEvent.click(screen.getByRole("button", { name: "Compare" }));
  expect(await screen.findByRole("region", { name: "version 1 and the file on disk" })).toBeInTheDocument();
  await userEvent.click(screen.getByRole("button", { name: "Keep editing" }));
  expect(await text()).toHaveValue("one mine");
});

test("what is typed is checked once, after a pause, and each mistake has its line", async () => {
  const { requests } = show();
  await userEvent.type(await text(), "!!!");
  expect(await screen.findByRole("button", { name: /line 3.*No\./ })).toBeInTheDocument();
  expect(await text()).toHaveAttribute("data-marks", "3");
  const last = (await sent(requests, "POST", "/check")).at(-1);
  expect(last).toEqual({ content: "one!!!" });
});

test("a save goes on top of what was read, with a few words", async () => {
  const { requests } = show();
  expect(await screen.findByRole("button", { name: "Save" })).toBeDisabled();
  await userEvent.type(await text(), "!");
  await userEvent.type(screen.getByLabelText("Description of the change"), " Louder {Enter}");
  expect(await screen.findByText("Saved SOUL.md as version 3.")).toBeInTheDocument();
  expect(await sent(requests, "PUT", "/soul")).toEqual([
    { content: "one!", base_hash: "hash of one", message: "Louder" },
  ]);
});

async function meetConflict() {
  const { requests, changeOutside } = show();
  await userEvent.type(await text(), " mine");
  await changeOutside(file("theirs", { version: 2 }));
  await screen.findByText(/was changed while you were editing/);
  await userEvent.click(screen.getByRole("button", { name: "Save" }));
  expect(
    await screen.findByRole("dialog", { name: "SOUL.md was changed by someone else" }),
  ).toBeInTheDocument();
  return requests;
}

test("in a conflict, mine can be saved on top of theirs", async () => {
  const requests = await meetConflict();
  await userEvent.click(screen.getByRole("button", { name: "Overwrite with mine" }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  const bodies = await sent(requests, "PUT", "/soul");
  expect(bodies.map((body) => body.base_hash)).toEqual(["hash of one", "hash of theirs"]);
  expect(bodies.map((body) => body.content)).toEqual(["one mine", "one mine"]);
});

test("in a conflict, keeping on editing loses nothing", async () => {
  await meetConflict();
  await userEvent.click(screen.getByRole("button", { name: "Keep editing" }));
  expect(await text()).toHaveValue("one mine");
  expect(screen.getByText(/was changed while you were editing/)).toBeInTheDocument();
});

test("in a conflict, theirs can be taken, and mine comes back if that was wrong", async () => {
  await meetConflict();
  await userEvent.click(screen.getByRole("button", { name: "Use theirs" }));
  await waitFor(async () => expect(await text()).toHaveValue("theirs"));
  await userEvent.click(screen.getByRole("button", { name: "Restore mine" }));
  expect(await text()).toHaveValue("one mine");
});

test("an edit by hand is shown with its difference and accepted as it was seen", async () => {
  const hand = file("by hand", {
    is_accepted: false,
    diff: diff({ left: "version 1", right: "the file on disk" }),
  });
  const { requests } = show(hand);
  expect(await screen.findByRole("region", { name: "Edited by hand" })).toHaveTextContent("their words");
  await userEvent.click(screen.getByRole("button", { name: "Accept" }));
  await waitFor(() => expect(screen.queryByRole("region", { name: "Edited by hand" })).toBeNull());
  expect(await sent(requests, "POST", "/accept")).toEqual([{ hash: "hash of by hand", message: "" }]);
});

test("an edit by hand with a mistake cannot be accepted, and a file that is gone can be written back", async () => {
  const problem = { file: "soul" as const, line: 1, message: "No.", is_warning: false };
  const { changeOutside } = show(file("bad", { is_accepted: false, problems: [problem] }));
  expect(await screen.findByRole("button", { name: "Accept" })).toBeDisabled();
  await changeOutside(file(null, { is_accepted: false, version: 4 }));
  expect(await screen.findByRole("button", { name: "Restore version 4" })).toBeEnabled();
  expect(screen.queryByRole("button", { name: "Accept" })).toBeNull();
  expect(screen.queryByRole("textbox")).toBeNull();
});
