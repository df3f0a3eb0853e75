import { PendingPage } from "@/ui/Page";
import { FRAME, SIDE } from "./frame";

/** The frame shown until the session is known, with the same layout as the shell. */
export function Opening() {
  if (window.location.pathname === "/login") return null;
  return (
    <div className={FRAME}>
      <div className={SIDE} />
      <main className="flex min-h-0 min-w-0 flex-col">
        <PendingPage />
      </main>
    </div>
  );
}
