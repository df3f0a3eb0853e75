import { X } from "lucide-react";
import type { ReactNode } from "react";
import type { BuilderConfig, Interview, InterviewPhase } from "@/api/types";
import { Button, IconButton } from "@/ui/Button";
import { Field, TextArea } from "@/ui/Field";
import { Fact, Facts } from "@/ui/KeyValues";
import { Panel } from "@/ui/Panel";

type Props = {
  session: Interview;
  config: BuilderConfig;
  change: (edits: Partial<BuilderConfig>) => void;
  back: (phase: InterviewPhase) => void;
};

/** Review of a bot. Name and description are edited here; other parts link back to their question. */
export function BotReview({ session, config, change, back }: Props) {
  const { personality, model_config: model, skills, variants } = config;
  const again = (phase: InterviewPhase, what: string) =>
    session.back_to.includes(phase) && (
      <Button look="ghost" className="h-6 text-xs" aria-label={`Change ${what}`} onClick={() => back(phase)}>
        Change
      </Button>
    );
  return (
    <div className="space-y-3">
      <Panel title="Identity">
        <div className="space-y-3 p-3">
          <Field
            label="Name"
            required
            maxLength={200}
            autoComplete="off"
            error={config.name.trim() === "" ? "Enter a name." : null}
            value={config.name}
            onChange={(event) => change({ name: event.target.value })}
          />
          <TextArea
            label="Description"
            rows={2}
            maxLength={1000}
            value={config.description}
            onChange={(event) => change({ description: event.target.value })}
          />
          <p className="flex flex-wrap items-center gap-1.5 text-xs text-dim">
            {[...new Set([config.category, ...config.tags])].map((tag) => (
              <Chip key={tag}>{tag}</Chip>
            ))}
          </p>
        </div>
      </Panel>
      {variants.length > 0 && <Variants variants={variants} />}
      <Panel title="Personality" actions={again("personality", "the personality")}>
        <div className="p-3">
          <Facts>
            <Fact name="Tone">{personality.tone}</Fact>
            {personality.traits.length > 0 && <Fact name="Traits">{personality.traits.join(", ")}</Fact>}
            {personality.purpose && (
              <Fact name="Purpose">
                <span className="whitespace-pre-line">{personality.purpose}</span>
              </Fact>
            )}
            {personality.boundaries && (
              <Fact name="Boundaries">
                <span className="whitespace-pre-line">{personality.boundaries}</span>
              </Fact>
            )}
          </Facts>
        </div>
      </Panel>
      <Panel title="Model" actions={again("model", "the model")}>
        <div className="p-3">
          <Facts>
            <Fact name="Model">
              <span className="mono">{session.preview.model ?? model.model}</span>
            </Fact>
            <Fact name="Temperature">
              <span className="mono">{model.temperature}</span>
            </Fact>
            <Fact name="Maximum answer length">
              <span className="mono">{model.max_tokens}</span> tokens
            </Fact>
          </Facts>
        </div>
      </Panel>
      <Panel title="Skills" count={skills.length} actions={again("skills", "the skills")}>
        {skills.length === 0 ? (
          <p className="px-3 py-2 text-dim">None</p>
        ) : (
          <ul aria-label="Skills" className="divide-y divide-line">
            {skills.map(({ name, description }) => (
              <li key={name} className="flex items-center gap-2 py-1 pr-1 pl-3">
                <div className="min-w-0 flex-1">
                  <p className="mono break-words">{name}</p>
                  {description && <p className="text-xs break-words text-dim">{description}</p>}
                </div>
                <IconButton
                  label={`Remove ${name}`}
                  onClick={() => change({ skills: skills.filter((skill) => skill.name !== name) })}
                >
                  <X size={14} aria-hidden />
                </IconButton>
              </li>
            ))}
          </ul>
        )}
      </Panel>
    </div>
  );
}

function Variants({ variants }: Pick<BuilderConfig, "variants">) {
  return (
    <Panel title="Bots" count={variants.length}>
      <ul aria-label="Bots" className="divide-y divide-line">
        {variants.map(({ name, difference }) => (
          <li key={name} className="px-3 py-1.5">
            <p className="font-medium break-words">{name}</p>
            {difference && <p className="break-words text-dim">{difference}</p>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const Chip = ({ children }: { children: ReactNode }) => (
  <span className="rounded-full border border-line bg-raised px-2 py-px break-words">{children}</span>
);
