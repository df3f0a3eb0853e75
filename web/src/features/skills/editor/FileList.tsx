import { clsx } from "clsx";
import { FilePlus2, FileText, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { Button } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { Menu } from "@/ui/Menu";
import { byPlace, type Draft, MAIN } from "./draft";
import { PathForm } from "./PathForm";

type Props = {
  draft: Draft;
  others: readonly string[];
  opened: string;
  open: (path: string) => void;
  add: (path: string) => void;
  rename: (from: string, to: string) => void;
  remove: (path: string) => void;
};

type Asking = { what: "add" } | { what: "rename" | "remove"; path: string };

/** The files of the folder. A dot marks unsaved ones. */
export function FileList({ draft, others, opened, open, add, rename, remove }: Props) {
  const [asking, setAsking] = useState<Asking | null>(null);
  const paths = Object.keys(draft.texts).sort(byPlace);
  const taken = [...paths, ...others];
  const close = () => setAsking(null);
  return (
    <nav aria-label="Files" className="flex shrink-0 flex-col gap-1 lg:w-52 lg:overflow-auto">
      <ul className="max-lg:max-h-40 max-lg:overflow-auto">
        {paths.map((path) => (
          <li
            key={path}
            className={clsx(
              "flex items-center rounded-md",
              path === opened ? "bg-raised text-ink" : "text-dim hover:bg-raised/60 hover:text-ink",
            )}
          >
            <button
              type="button"
              title={path}
              aria-current={path === opened ? "true" : undefined}
              onClick={() => open(path)}
              className="flex h-7 min-w-0 flex-1 items-center gap-1.5 px-2 text-left -outline-offset-2 pointer-coarse:h-9"
            >
              <FileText size={13} strokeWidth={1.75} aria-hidden className="shrink-0 text-faint" />
              <span className="mono truncate">{path}</span>
              {draft.texts[path] !== draft.base.texts[path] && (
                <span title="not saved" className="text-accent">
                  <span aria-hidden>•</span>
                  <span className="sr-only">, not saved</span>
                </span>
              )}
            </button>
            {path !== MAIN && path === opened && (
              <Menu
                label={`Actions for ${path}`}
                groups={[
                  [{ label: "Rename", icon: Pencil, run: () => setAsking({ what: "rename", path }) }],
                  [
                    {
                      label: "Remove",
                      icon: Trash2,
                      isDanger: true,
                      run: () => setAsking({ what: "remove", path }),
                    },
                  ],
                ]}
              />
            )}
          </li>
        ))}
        {others.map((path) => (
          <li
            key={path}
            title={`${path}: binary, kept unchanged`}
            className="flex h-7 items-center gap-1.5 px-2 text-faint"
          >
            <FileText size={13} strokeWidth={1.75} aria-hidden className="shrink-0" />
            <span className="mono truncate">{path}</span>
            <span className="ml-auto shrink-0 text-xs">binary</span>
          </li>
        ))}
      </ul>
      <Button look="ghost" className="self-start" onClick={() => setAsking({ what: "add" })}>
        <FilePlus2 size={13} aria-hidden /> Add a file
      </Button>
      {asking?.what === "add" && <PathForm taken={taken} done={add} close={close} />}
      {asking?.what === "rename" && (
        <PathForm taken={taken} from={asking.path} done={(to) => rename(asking.path, to)} close={close} />
      )}
      {asking?.what === "remove" && (
        <Confirm
          open
          onOpenChange={close}
          title={`Remove ${asking.path}?`}
          description="It is removed here now, and from the folder when you save."
          action="Remove file"
          onConfirm={() => {
            remove(asking.path);
            close();
          }}
        />
      )}
    </nav>
  );
}
