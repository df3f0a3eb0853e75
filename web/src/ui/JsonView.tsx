import { Download } from "lucide-react";
import { Button } from "./Button";
import { formatBytes } from "./bytes";
import { Code } from "./Code";
import { writtenOut } from "./json";
import { saveAs } from "./saveAs";

/** The maximum number of characters shown; the download contains all. */
const MAX_CHARS = 20_000;

type Props = {
  value: unknown;
  /** The file name without extension. */
  name: string;
};

/** A value as text or JSON. Long values are truncated and can be downloaded. */
export function JsonView({ value, name }: Props) {
  const isText = typeof value === "string";
  const text = isText ? value : writtenOut(value);
  const save = () =>
    saveAs(
      new Blob([text], { type: isText ? "text/plain" : "application/json" }),
      `${name}.${isText ? "txt" : "json"}`,
    );
  if (text.length <= MAX_CHARS) return <Code text={text} language={isText ? "text" : "json"} isWrapped />;
  return (
    <div className="space-y-2">
      <Code text={`${text.slice(0, MAX_CHARS)}…`} language="text" isWrapped />
      <p className="flex flex-wrap items-center gap-2 text-xs text-dim">
        First {formatBytes(MAX_CHARS)} of {formatBytes(text.length)}.
        <Button onClick={save}>
          <Download size={13} aria-hidden /> Download all
        </Button>
      </p>
    </div>
  );
}
