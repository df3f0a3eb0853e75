/** Packs chosen or dropped files into one archive: a zip as is, a folder packed in the browser. */
import type { Archive } from "@/api/skillStages";
import { formatBytes } from "@/ui/bytes";
import { zip } from "./zip";

export type Loose = { path: string; file: File };

export class NotPacked extends Error {
  override readonly name = "NotPacked";
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

const MAX_FILES = 20_000;
const MAX_BYTES = 100_000_000;
/** Never part of a skill, and often large. */
const LEFT_OUT = new Set([".git", "node_modules", "__pycache__", ".venv", ".DS_Store"]);

const isZip = (file: File): boolean => /\.(zip|skill)$/i.test(file.name) || file.type === "application/zip";

/** Files with their paths, starting with the name of the chosen folder. */
export function chosen(files: FileList): Loose[] {
  return [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/** The dropped files. Must be called synchronously: the browser clears the data after the event. */
export function dropped(data: DataTransfer): Promise<Loose[]> {
  const roots = [...data.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  return walk(roots);
}

async function walk(entries: readonly FileSystemEntry[]): Promise<Loose[]> {
  const found: Loose[] = [];
  for (const entry of entries) {
    if (LEFT_OUT.has(entry.name)) continue;
    if (entry.isDirectory) {
      found.push(...(await walk(await listOf((entry as FileSystemDirectoryEntry).createReader()))));
    } else {
      const file = await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail));
      found.push({ path: entry.fullPath.slice(1), file });
    }
  }
  return found;
}

/** A reader returns the entries in batches, then an empty one. */
async function listOf(reader: FileSystemDirectoryReader): Promise<FileSystemEntry[]> {
  const all: FileSystemEntry[] = [];
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
    if (some.length === 0) return all;
    all.push(...some);
  }
}

export async function pack(loose: readonly Loose[]): Promise<Archive> {
  const [first] = loose;
  if (loose.length === 1 && first && isZip(first.file)) {
    return { name: first.file.name, folder: "", data: first.file };
  }
  const files = loose.filter(({ path }) => !path.split("/").some((part) => LEFT_OUT.has(part)));
  check(files);
  const entries = await Promise.all(
    files.map(async ({ path, file }) => ({ path, data: new Uint8Array(await file.arrayBuffer()) })),
  );
  const folder = rootOf(files);
  return { name: `${folder || "files"}.zip`, folder, data: zip(entries) };
}

function check(files: readonly Loose[]): void {
  if (files.length === 0) {
    throw new NotPacked(
      "It contains no files.",
      "Choose the folder that contains `SKILL.md`, or a parent folder.",
    );
  }
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  if (files.length > MAX_FILES || bytes > MAX_BYTES) {
    throw new NotPacked(
      `Too large to pack in the browser: ${files.length} files, ${formatBytes(bytes)}.`,
      "Choose a smaller folder, or install from a repository or a folder on the server.",
    );
  }
}

/** The common root folder, or empty if there is none. */
function rootOf(files: readonly Loose[]): string {
  const roots = new Set(
    files.map(({ path }) => (path.includes("/") ? path.slice(0, path.indexOf("/")) : "")),
  );
  const [root = ""] = roots;
  return roots.size === 1 ? root : "";
}
