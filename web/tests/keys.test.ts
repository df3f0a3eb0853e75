/** The page reads its machine once, so each test imports it anew. */
async function on(machine: string) {
  vi.resetModules();
  vi.spyOn(navigator, "userAgent", "get").mockReturnValue(machine);
  return import("@/ui/keys");
}
afterEach(() => void vi.restoreAllMocks());

test.each([
  ["Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)", "Undo (⌘ Z)"],
  ["Mozilla/5.0 (X11; Linux x86_64)", "Undo (Ctrl Z)"],
])("on %s a control is called %s", async (machine, name) => {
  const { withKeys } = await on(machine);
  expect(withKeys("Undo", "mod+z")).toBe(name);
});
