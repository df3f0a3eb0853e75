import { KeyRound } from "lucide-react";
import { useState } from "react";
import type { ModelProvider } from "@/api/types";
import { Button } from "@/ui/Button";
import { Panel } from "@/ui/Panel";
import { KeyForm } from "./KeyForm";

/** Nothing can be called yet: the three ways to change that. */
export function FirstSteps({ providers }: { providers: readonly ModelProvider[] }) {
  const [isSetting, setSetting] = useState(false);
  const anthropic = providers.find(({ name, has_key }) => name === "anthropic" && !has_key);
  return (
    <Panel title="No model can be called yet" tone="wait">
      <ul className="list-disc space-y-2 p-3 pl-7">
        {anthropic && (
          <li>
            Forge uses Anthropic’s models unless you choose others.{" "}
            <Button className="ml-1 align-middle" onClick={() => setSetting(true)}>
              <KeyRound size={13} aria-hidden /> Set the Anthropic key
            </Button>
          </li>
        )}
        <li>
          Your own models: add Ollama, vLLM or llama.cpp below as a provider by its address, such as{" "}
          <code className="mono">http://127.0.0.1:11434/v1</code>, and choose its models for the roles.
        </li>
        <li>
          Only looking around: <code className="mono">forge models serve</code> starts a model server that
          answers from a script and says how to use it. Nothing leaves your machine, and nothing is paid.
        </li>
      </ul>
      {isSetting && anthropic && <KeyForm provider={anthropic} close={() => setSetting(false)} />}
    </Panel>
  );
}
