import { X } from "lucide-react";
import { useEffect, useState, useSyncExternalStore } from "react";
import { Dot } from "./Badge";
import { Button, IconButton } from "./Button";
import { InlineText } from "./InlineText";
import { lifetime, type Toast, toast } from "./toast";

/** Shows toasts, in a live region so that they are read out. */
export function Toaster() {
  const shown = useSyncExternalStore(toast.watch, toast.list);
  return (
    <section
      aria-label="Notifications"
      aria-live="polite"
      className="pointer-events-none fixed right-3 bottom-3 left-3 z-60 flex flex-col items-end gap-2"
    >
      {shown.map((item) => (
        <ToastCard key={item.id} toast={item} />
      ))}
    </section>
  );
}

function ToastCard({ toast: item }: { toast: Toast }) {
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return;
    const timer = window.setTimeout(() => toast.dismiss(item.id), lifetime(item));
    return () => window.clearTimeout(timer);
  }, [isHeld, item]);
  const { action } = item;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: resting the pointer here only stops the timer
    <div
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
      className="pointer-events-auto flex w-full max-w-[380px] items-start gap-2 rounded-lg border border-line bg-surface py-2 pr-1.5 pl-3 shadow-xl"
    >
      <Dot tone={item.tone} className="mt-2.5" />
      <div className="min-w-0 flex-1 py-1">
        <p className="font-medium break-words">
          <InlineText text={item.message} />
        </p>
        {item.hint && (
          <p className="text-xs text-dim">
            <InlineText text={item.hint} />
          </p>
        )}
      </div>
      {action && (
        <Button
          onClick={() => {
            toast.dismiss(item.id);
            action.run();
          }}
        >
          {action.label}
        </Button>
      )}
      <IconButton label="Dismiss" hintAbove onClick={() => toast.dismiss(item.id)}>
        <X size={14} aria-hidden />
      </IconButton>
    </div>
  );
}
