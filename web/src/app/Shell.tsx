import { Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { Menu } from "lucide-react";
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useMe } from "@/api/session";
import type { Gate } from "@/api/types";
import { useAccountFeed } from "@/api/useAccountFeed";
import type { Area } from "@/area";
import { IconButton } from "@/ui/Button";
import { ChromeContext } from "@/ui/Page";
import { shortcuts, useShortcut } from "@/ui/shortcuts";
import { toast } from "@/ui/toast";
import { AREAS } from "./areas";
import { Connection } from "./Connection";
import { FRAME, SIDE } from "./frame";
import type { Overlay } from "./overlay";
import { Sidebar } from "./Sidebar";

const loadOverlays = () => import("./Overlays");
const Overlays = lazy(() => loadOverlays().then(({ Overlays }) => ({ default: Overlays })));

/** The frame around every page: sidebar, shortcuts, live feed and overlays. */
export function Shell() {
  const [overlay, show] = useState<Overlay | null>(null);
  const main = useRef<HTMLElement>(null);
  useAnnouncedGates();
  useKeyboard(show);
  useEffect(() => void loadOverlays(), []);

  const pathname = useRouterState({ select: (state) => state.location.pathname });
  const arrivedAt = useRef(pathname);
  useEffect(() => {
    if (arrivedAt.current === pathname) return;
    arrivedAt.current = pathname;
    show(null);
    // If the focused element was removed with the old page, focus the new one.
    if (document.activeElement === document.body) main.current?.focus();
  }, [pathname]);

  const chrome = useMemo(
    () => ({
      start: (
        <IconButton label="Menu" className="lg:hidden" onClick={() => show("menu")}>
          <Menu size={16} aria-hidden />
        </IconButton>
      ),
      end: <Connection />,
    }),
    [],
  );
  return (
    <div className={FRAME}>
      {/* biome-ignore lint/a11y/useValidAnchor: it does lead there; not by the address, whose # may mean something to the page */}
      <a
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
        className="absolute top-2 left-2 z-60 -translate-y-12 rounded-md bg-ink px-3 py-1 text-bg focus:translate-y-0"
      >
        Skip to content
      </a>
      <div className={SIDE}>
        <Sidebar open={show} />
      </div>
      <main ref={main} id="main" tabIndex={-1} className="flex min-h-0 min-w-0 flex-col outline-none">
        <ChromeContext value={chrome}>
          <Outlet />
        </ChromeContext>
      </main>
      <Suspense fallback={null}>
        <Overlays shown={overlay} show={show} />
      </Suspense>
    </div>
  );
}

/** Keep lists up to date, and show a toast for new questions unless their page is open. */
function useAnnouncedGates(): void {
  const navigate = useNavigate();
  const announce = useCallback(
    (gate: Gate) => {
      if (window.location.pathname.endsWith(gate.run_id)) return;
      const open = () => void navigate({ to: "/runs/$runId", params: { runId: gate.run_id } });
      toast.ask(`Needs you: ${gate.title}`, { label: "Open", run: open });
    },
    [navigate],
  );
  useAccountFeed(useMe()?.account.id, announce);
}

function useKeyboard(show: (overlay: Overlay) => void): void {
  const navigate = useNavigate();
  useEffect(() => {
    window.addEventListener("keydown", shortcuts.handle);
    return () => window.removeEventListener("keydown", shortcuts.handle);
  }, []);
  useShortcut("mod+k", { label: "Search or run", group: "Everywhere" }, () => show("palette"));
  useShortcut("?", { label: "Keyboard shortcuts", group: "Everywhere" }, () => show("help"));
  useEffect(() => {
    const unbind = AREAS.map(({ label, nav }: Area) =>
      shortcuts.bind({
        keys: `g ${nav.key}`,
        label,
        group: "Go to",
        run: () => void navigate({ to: nav.to }),
      }),
    );
    return () => {
      for (const undo of unbind) undo();
    };
  }, [navigate]);
}
