import { Check, Copy } from "lucide-react";
import { useEffect, useState } from "react";
import { Button, type ButtonLook, IconButton } from "./Button";
import { toast } from "./toast";

const SHOWN_MS = 1500;

type Props = {
  text: string;
  label?: string;
  look?: ButtonLook;
  iconOnly?: boolean;
  /** Show the copied text as a tooltip. */
  isShown?: boolean;
};

export function CopyButton({ text, label = "Copy", look = "plain", iconOnly = false, isShown }: Props) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = window.setTimeout(() => setCopied(false), SHOWN_MS);
    return () => window.clearTimeout(timer);
  }, [isCopied]);

  const copy = () =>
    writeClipboard(text).then(
      () => setCopied(true),
      () => toast.error({ message: "The browser blocked copying.", hint: "Select the text and copy it." }),
    );
  const Icon = isCopied ? Check : Copy;
  if (iconOnly) {
    return (
      <IconButton label={isCopied ? "Copied" : label} onClick={copy}>
        <Icon size={13} aria-hidden />
      </IconButton>
    );
  }
  return (
    <Button look={look} onClick={copy} {...(isShown && { className: "hint", "data-hint": text })}>
      <Icon size={13} aria-hidden /> <span aria-live="polite">{isCopied ? "Copied" : label}</span>
    </Button>
  );
}

/** `navigator.clipboard` is undefined outside secure contexts, such as plain HTTP to another host. */
async function writeClipboard(text: string): Promise<void> {
  if (!navigator.clipboard) throw new Error("The clipboard is not available.");
  await navigator.clipboard.writeText(text);
}
