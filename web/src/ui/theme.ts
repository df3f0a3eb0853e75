/** Light, dark or system theme. `public/theme.js` applies it before the first paint. */
import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";
export const THEMES: readonly Theme[] = ["system", "light", "dark"];

const KEY = "forge.theme";
const watchers = new Set<() => void>();

function read(): Theme {
  const chosen = document.documentElement.dataset.theme;
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

export function setTheme(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    if (theme === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // Storage is blocked: the choice holds until the page is closed.
  }
  for (const watcher of watchers) watcher();
}

/** Switch between light and dark. */
export function flipTheme(): void {
  const shown = read();
  const isDark = shown === "system" ? matchMedia("(prefers-color-scheme: dark)").matches : shown === "dark";
  setTheme(isDark ? "light" : "dark");
}

function watch(onChange: () => void): () => void {
  watchers.add(onChange);
  return () => watchers.delete(onChange);
}

export function useTheme(): Theme {
  return useSyncExternalStore(watch, read);
}
