// Runs before the first paint, so that a chosen theme never flashes. A file, because the
// Content-Security-Policy allows no inline script. The names are those of src/ui/theme.ts.
try {
  const theme = localStorage.getItem("forge.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage is blocked: the system's theme it is.
}
