import type { SkillFile } from "@/api/types";
import { formatBytes } from "@/ui/bytes";
import { count } from "@/ui/count";
import { Disclosure } from "@/ui/Disclosure";

type Props = {
  files: readonly SkillFile[];
  /** Files that differ from the installed version, including deleted ones. */
  changes: readonly string[];
};

/** The files of a skill, with those that would change. */
export function Files({ files, changes }: Props) {
  const changed = new Set(changes);
  const gone = changes.filter((path) => !files.some((file) => file.path === path));
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return (
    <Disclosure
      isOpen={changes.length > 0 && changes.length <= 12}
      title={
        <>
          {count(files.length, "file")}, {formatBytes(bytes)}
          {changes.length > 0 && `, ${changes.length} changed`}
        </>
      }
    >
      <ul aria-label="Files" className="mono max-h-48 overflow-auto rounded-md border border-line py-1">
        {files.map(({ path, bytes, is_text }) => (
          <li key={path} className="flex items-baseline gap-2 px-2.5 leading-5">
            <span className="min-w-0 break-all">{path}</span>
            {changed.has(path) && <span className="text-wait">changed</span>}
            {!is_text && <span className="text-faint">binary</span>}
            <span className="ml-auto shrink-0 text-faint">{formatBytes(bytes)}</span>
          </li>
        ))}
        {gone.map((path) => (
          <li key={path} className="flex items-baseline gap-2 px-2.5 leading-5">
            <span className="min-w-0 break-all text-dim line-through">{path}</span>
            <span className="text-bad">deleted</span>
          </li>
        ))}
      </ul>
    </Disclosure>
  );
}
