import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type DragEvent, type ReactNode, useRef, useState } from "react";
import { importBot, refreshBot } from "@/api/bots";
import { toast } from "@/ui/toast";
import { readBundle } from "../bundle";

type Import = {
  choose: () => void;
  /** The hidden file input that `choose` opens; it must be rendered. */
  input: ReactNode;
  /** Props for the element that files can be dropped on. */
  target: {
    onDragEnter: (event: DragEvent) => void;
    onDragOver: (event: DragEvent) => void;
    onDragLeave: (event: DragEvent) => void;
    onDrop: (event: DragEvent) => void;
  };
  isOver: boolean;
};

const hasFile = ({ dataTransfer }: DragEvent): boolean => dataTransfer.types.includes("Files");

/** Import a bot from a chosen or dropped file, then open its page. */
export function useImport(): Import {
  const cache = useQueryClient();
  const navigate = useNavigate();
  const field = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const take = useMutation({
    mutationFn: async (file: File) => importBot(readBundle(await file.text())),
    onSuccess: ({ slug, identity }) => {
      toast.ok(`Imported ${identity.display_name}.`);
      refreshBot(cache, { slug, part: "bot" });
      return navigate({ to: "/bots/$slug/chat/{-$sessionId}", params: { slug } });
    },
  });
  const allow = (event: DragEvent) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    setOver(true);
  };
  const target = {
    onDragEnter: allow,
    onDragOver: allow,
    onDragLeave: ({ currentTarget, relatedTarget }: DragEvent) => {
      if (!(relatedTarget instanceof Node) || !currentTarget.contains(relatedTarget)) setOver(false);
    },
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      setOver(false);
      const file = event.dataTransfer.files[0];
      if (file) take.mutate(file);
    },
  };
  const input = (
    <input
      ref={field}
      type="file"
      accept=".json,application/json"
      aria-label="Bot file"
      hidden
      onChange={({ target: { files } }) => {
        const file = files?.[0];
        if (file) take.mutate(file);
        if (field.current) field.current.value = "";
      }}
    />
  );
  return { choose: () => field.current?.click(), input, target, isOver };
}
