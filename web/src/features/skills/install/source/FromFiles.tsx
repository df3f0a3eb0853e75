import { clsx } from "clsx";
import { FileArchive, FolderUp } from "lucide-react";
import { type DragEvent, useRef, useState } from "react";
import { Button } from "@/ui/Button";
import { chosen, dropped } from "../pack";
import { Actions } from "./Actions";
import type { WayProps } from "./Source";

/** Install from an archive or folder on this computer. */
export function FromFiles({ get, close }: WayProps) {
  const archive = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const take = (files: FileList | null) => {
    if (files && files.length > 0) get.mutate({ files: chosen(files) });
    for (const field of [archive, folder]) if (field.current) field.current.value = "";
  };
  const allow = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    setOver(true);
  };
  return (
    <>
      <section
        aria-label="Drop a zip or a folder here"
        onDragEnter={allow}
        onDragOver={allow}
        onDragLeave={({ currentTarget, relatedTarget }) => {
          if (!(relatedTarget instanceof Node) || !currentTarget.contains(relatedTarget)) setOver(false);
        }}
        onDrop={(event) => {
          event.preventDefault();
          setOver(false);
          get.mutate({ files: dropped(event.dataTransfer) });
        }}
        className={clsx(
          "flex flex-col items-center gap-3 rounded-lg border border-dashed px-4 py-8 text-center",
          isOver ? "border-accent bg-raised/60" : "border-strong",
        )}
      >
        <p className="font-medium">
          {get.isPending ? "Reading…" : "Drop a zip or a folder here"}
          <span className="mt-0.5 block font-normal text-dim">
            One skill or a collection: every folder with a <code className="mono">SKILL.md</code> is found.
          </span>
        </p>
        <div className="flex flex-wrap justify-center gap-2">
          <Button disabled={get.isPending} onClick={() => archive.current?.click()}>
            <FileArchive size={13} aria-hidden /> Choose a zip
          </Button>
          <Button disabled={get.isPending} onClick={() => folder.current?.click()}>
            <FolderUp size={13} aria-hidden /> Choose a folder
          </Button>
        </div>
        <input
          ref={archive}
          type="file"
          hidden
          aria-label="Zip file with skills"
          accept=".zip,.skill,application/zip"
          onChange={({ target }) => take(target.files)}
        />
        <input
          ref={folder}
          type="file"
          hidden
          aria-label="Folder with skills"
          // @ts-expect-error -- every browser has it; React's types do not.
          webkitdirectory=""
          onChange={({ target }) => take(target.files)}
        />
      </section>
      <Actions get={get} close={close} />
    </>
  );
}
