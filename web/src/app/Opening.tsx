import { PendingPage } from "@/ui/Page";
import { FRAME, SIDE } from "./frame";

/** The frame before it is known who is there: the page and the menu come to where something stands already. */
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
