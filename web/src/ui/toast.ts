/** Toasts. Call `toast.ok("Saved.")` from anywhere; `<Toaster>` shows them. */
import { toProblem } from "./problem";

export type Toast = {
  id: number;
  tone: "ok" | "bad" | "wait";
  message: string;
  hint: string | null;
  action?: { label: string; run: () => void };
};

const SHORT_MS = 4000;
/** For errors and toasts with an action. */
const LONG_MS = 10_000;
const MAX_SHOWN = 4;

class Toasts {
  #shown: readonly Toast[] = [];
  #watchers = new Set<() => void>();
  #count = 0;

  list = (): readonly Toast[] => this.#shown;

  watch = (onChange: () => void): (() => void) => {
    this.#watchers.add(onChange);
    return () => this.#watchers.delete(onChange);
  };

  /** Success; the action is usually "Undo". */
  ok = (message: string, action?: NonNullable<Toast["action"]>): void => {
    this.#show({ tone: "ok", message, hint: null, ...(action && { action }) });
  };

  error = (error: unknown): void => {
    const { message, hint } = toProblem(error);
    this.#show({ tone: "bad", message, hint });
  };

  /** Something needs attention, but not immediately. */
  ask = (message: string, action: NonNullable<Toast["action"]>): void => {
    this.#show({ tone: "wait", message, hint: null, action });
  };

  dismiss = (id: number): void => {
    this.#change(this.#shown.filter((toast) => toast.id !== id));
  };

  #show(toast: Omit<Toast, "id">): void {
    this.#change([...this.#shown, { id: ++this.#count, ...toast }].slice(-MAX_SHOWN));
  }

  #change(shown: readonly Toast[]): void {
    this.#shown = shown;
    for (const watcher of this.#watchers) watcher();
  }
}

export const toast = new Toasts();

export const lifetime = ({ tone, action }: Toast): number =>
  tone === "ok" && action === undefined ? SHORT_MS : LONG_MS;
