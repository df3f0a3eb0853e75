import { putSecret } from "@/api/secrets";
import type { ModelProvider } from "@/api/types";
import { KeyEntry } from "@/ui/KeyEntry";
import { Modal } from "@/ui/Modal";
import { useChange } from "./models";

/** Store a provider's key in the vault. */
export function KeyForm({ provider, close }: { provider: ModelProvider; close: () => void }) {
  const keep = (value: string) => putSecret({ name: provider.key_name ?? "", scope: "", value });
  const save = useChange(keep, { done: `Saved the key for ${provider.name}.`, after: close });
  return (
    <Modal
      open
      onOpenChange={close}
      title={`Key for ${provider.name}`}
      description={
        <>
          Stored encrypted as the secret <code className="mono">{provider.key_name}</code> and never shown
          again.
        </>
      }
    >
      <KeyEntry save={save} close={close} />
    </Modal>
  );
}
