import { useQuery } from "@tanstack/react-query";
import { Link, useMatches } from "@tanstack/react-router";
import { CircleQuestionMark, Search, SunMoon } from "lucide-react";
import { useMe } from "@/api/session";
import { versionQuery } from "@/api/system";
import type { RunDetail } from "@/api/types";
import type { Area } from "@/area";
import { IconButton } from "@/ui/Button";
import { Kbd } from "@/ui/Kbd";
import { Mark } from "@/ui/Mark";
import { flipTheme } from "@/ui/theme";
import { AREAS } from "./areas";
import type { Overlay } from "./overlay";

type Props = {
  open: (overlay: Overlay) => void;
  /** Called when a link is clicked, even if it leads to the current page. */
  onFollow?: (() => void) | undefined;
};

export function Sidebar({ open, onFollow }: Props) {
  const home = useHomeOfRun();
  return (
    <nav aria-label="Main" className="flex min-h-full flex-col p-2">
      <div className="flex h-9 items-center gap-2 px-2 font-semibold">
        <Mark /> Forge
      </div>
      <button
        type="button"
        onClick={() => open("palette")}
        className="mt-1 mb-2 flex h-7 items-center gap-2 rounded-md border border-line bg-surface px-2 text-dim hover:border-strong hover:text-ink pointer-coarse:h-9"
      >
        <Search size={13} aria-hidden className="shrink-0" /> <span className="truncate">Search or run…</span>
        <span className="ml-auto flex">
          <Kbd keys="mod+k" />
        </span>
      </button>
      <ul className="flex flex-col gap-0.5">
        {AREAS.map((area) => (
          <li key={area.nav.to}>
            <NavItem area={area} home={home} onFollow={onFollow} />
          </li>
        ))}
      </ul>
      <Footer open={open} onFollow={onFollow} />
    </nav>
  );
}

/** The area that a run's page belongs to, if it is not "Runs". */
function useHomeOfRun(): string | undefined {
  const kind = useMatches({
    select: (matches) => (matches.at(-1)?.loaderData as Partial<RunDetail> | undefined)?.run?.kind,
  });
  return AREAS.find(({ nav }: Area) => nav.kind !== undefined && nav.kind === kind)?.nav.to;
}

type ItemProps = Pick<Props, "onFollow"> & { area: Area; home: string | undefined };

function NavItem({ area, home, onFollow }: ItemProps) {
  const { to, icon: Icon, key, useCount = noCount } = area.nav;
  const count = useCount();
  return (
    <Link
      to={to}
      onClick={onFollow}
      activeOptions={{ exact: to === "/" || home !== undefined }}
      {...(home === to && { "aria-current": "page" })}
      className="group flex h-7 items-center gap-2 rounded-md px-2 text-dim hover:bg-raised hover:text-ink pointer-coarse:h-9 aria-[current=page]:bg-raised aria-[current=page]:text-ink"
    >
      <Icon size={15} strokeWidth={1.75} /> {area.label}
      <span className="ml-auto flex items-center gap-1.5">
        <span className="flex opacity-0 transition-opacity group-hover:opacity-100 group-focus-visible:opacity-100">
          <Kbd keys={`g ${key}`} />
        </span>
        {count > 0 && (
          <span className="mono font-semibold text-wait">
            {count}
            <span className="sr-only"> need you</span>
          </span>
        )}
      </span>
    </Link>
  );
}

const noCount = (): number => 0;

function Footer({ open, onFollow }: Props) {
  const me = useMe();
  const version = useQuery(versionQuery).data;
  return (
    <footer className="mt-auto flex items-center border-t border-line pt-2">
      <div className="min-w-0 px-2 text-xs leading-4">
        <Link to="/settings" onClick={onFollow} className="block truncate rounded-sm text-dim hover:text-ink">
          {me?.account.name}
        </Link>
        <span className="mono block text-faint">{version && `v${version}`}</span>
      </div>
      <div className="ml-auto flex">
        <IconButton label="Keyboard shortcuts" hintAbove onClick={() => open("help")}>
          <CircleQuestionMark size={15} strokeWidth={1.75} aria-hidden />
        </IconButton>
        <IconButton label="Toggle theme" hintAbove onClick={flipTheme}>
          <SunMoon size={15} strokeWidth={1.75} aria-hidden />
        </IconButton>
      </div>
    </footer>
  );
}
