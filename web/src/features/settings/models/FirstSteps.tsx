import { KeyRound } from "lucide-react";
import { useState } from "react";
import type { ModelProvider } from "@/api/types";
import { Button } from "@/ui/Button";
import { Panel } from "@/ui/Panel";
import { KeyForm } from "./KeyForm";

/** Shown if no model can be called: three ways to set one up. */
export function FirstSteps({ providers }: { providers: readonly ModelProvider[] }) {
  const [isSetting, setSetting] = useState(false);
  const anthropic = providers.find(({ name, has_key }) => name === "anthropic" && !has_key);
  return (
    <Panel title="No model is configured" tone="wait">
      <ul className="list-disc space-y-2 p-3 pl-7">
        {anthropic && (
          <li>
            Forge uses Anthropic models by default.{" "}
            <Button className="ml-1 align-middle" onClick={() => setSetting(true)}>
              <KeyRound size={13} aria-hidden /> Set Anthropic key
            </Button>
          </li>
        )}
        <li>
          For local models, add Ollama, vLLM or llama.cpp below as a provider, for example{" "}
          <code className="mono">http://127.0.0.1:11434/v1</code>, then choose its models for the roles.
        </li>
        <li>
          Just exploring? <code className="mono">forge models serve</code> starts a scripted model server and
          prints how to use it. Nothing leaves your machine and nothing is charged.
        </li>
      </ul>
      {isSetting && anthropic && <KeyForm provider={anthropic} close={() => setSetting(false)} />}
    </Panel>
  );
}
