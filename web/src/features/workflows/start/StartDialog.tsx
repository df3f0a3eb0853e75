import { InlineText } from "@/ui/InlineText";
import { Modal } from "@/ui/Modal";
import { StartForm, type StartProps } from "./StartForm";

/** A dialog that asks for the inputs of a run. */
export function StartDialog({ title, ...form }: StartProps & { title: string }) {
  const inputs = Object.values(form.inputs);
  const takes = inputs.length;
  return (
    <Modal
      open
      onOpenChange={form.close}
      wide
      title={title}
      description={
        takes > 0 ? (
          inputs.some(({ required }) => !required) && "Empty fields use the workflow's defaults."
        ) : (
          <InlineText text="The workflow declares no inputs. Steps can read this value as `trigger`." />
        )
      }
    >
      <StartForm {...form} />
    </Modal>
  );
}
