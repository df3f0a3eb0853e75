import { Upload } from "lucide-react";
import { useRef } from "react";
import { Button } from "@/ui/Button";
import { Disclosure } from "@/ui/Disclosure";
import { TextArea } from "@/ui/Field";
import { toast } from "@/ui/toast";

const MAX_CHARACTERS = 100_000;

/** An existing SOUL.md, pasted or read from a file. It is used as is. */
export function ImportSoul({ soul, onChange }: { soul: string; onChange: (soul: string) => void }) {
  const field = useRef<HTMLInputElement>(null);
  const take = async (file: File) => {
    const text = await file.text();
    if (text.length > MAX_CHARACTERS) toast.error(new Error("This file is too long for a SOUL.md."));
    else onChange(text);
  };
  return (
    <Disclosure title="Import a SOUL.md" isOpen={soul !== ""}>
      <TextArea
        label="Text of the SOUL.md"
        mono
        rows={6}
        maxLength={MAX_CHARACTERS}
        spellCheck={false}
        hint="Used as is. Forge only asks for what is missing."
        value={soul}
        onChange={(event) => onChange(event.target.value)}
      />
      <input
        ref={field}
        type="file"
        accept=".md,text/markdown,text/plain"
        aria-label="A SOUL.md"
        hidden
        onChange={({ target: { files } }) => {
          const file = files?.[0];
          if (file) take(file).catch((error) => toast.error(error));
          if (field.current) field.current.value = "";
        }}
      />
      <Button onClick={() => field.current?.click()}>
        <Upload size={13} aria-hidden /> Choose file
      </Button>
    </Disclosure>
  );
}
