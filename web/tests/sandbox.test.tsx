import { render, screen } from "@testing-library/react";
import { SandboxPanel } from "@/features/settings/SandboxPanel";

const REPORT = {
  backend: "landlock",
  level: "partial",
  guarantees: { reads: true, metadata: false },
  tried: [{ backend: "bubblewrap", why: "user namespaces are not allowed" }],
  required: "isolated",
  advice: "Install bubblewrap.",
} as const;

test("says by what commands are held back, from what, and from what not", () => {
  render(<SandboxPanel report={{ ...REPORT, tried: [...REPORT.tried] }} />);
  const facts = screen
    .getAllByRole("term")
    .map((term) => [term.textContent, term.nextElementSibling?.textContent]);
  expect(Object.fromEntries(facts)).toMatchObject({
    Isolation: expect.stringContaining("partly isolated"),
    Backend: "Landlock",
    Required: "isolated",
    "Not used": "bubblewrap: user namespaces are not allowed",
  });
  expect(screen.getAllByRole("listitem").map((item) => item.textContent)).toEqual([
    "Files outside cannot be read: holds",
    "Modes and times of files outside cannot be changed: not guaranteed",
  ]);
  expect(screen.getByText("Install bubblewrap.")).toBeInTheDocument();
});

test("what was not tried out yet is not promised", () => {
  render(<SandboxPanel report={null} />);
  expect(screen.getByText(/Not tested yet/)).toBeInTheDocument();
  expect(screen.queryByRole("list")).toBeNull();
});
