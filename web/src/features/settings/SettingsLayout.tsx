import { Link, Outlet } from "@tanstack/react-router";
import { Page } from "@/ui/Page";
import { TABS } from "./tabs";

export function SettingsLayout() {
  return (
    <Page title="Settings">
      <div className="mx-auto grid max-w-[960px] gap-x-8 gap-y-4 p-4 max-sm:p-2 md:grid-cols-[160px_minmax(0,1fr)] md:py-6">
        <nav aria-label="Settings" className="flex flex-wrap gap-0.5 md:flex-col">
          {TABS.map(({ to, label, icon: Icon }) => (
            <Link
              key={to}
              to={to}
              activeOptions={{ exact: true }}
              className="flex h-7 items-center gap-2 rounded-md px-2 whitespace-nowrap text-dim hover:bg-raised hover:text-ink pointer-coarse:h-9 aria-[current=page]:bg-raised aria-[current=page]:text-ink"
            >
              <Icon size={14} strokeWidth={1.75} aria-hidden /> {label}
            </Link>
          ))}
        </nav>
        <div className="min-w-0 space-y-4">
          <Outlet />
        </div>
      </div>
    </Page>
  );
}
