import type { Interview, SkillRequest } from "@/api/types";
import { Field, TextArea } from "@/ui/Field";
import { Fact, Facts } from "@/ui/KeyValues";
import { Panel } from "@/ui/Panel";
import { Trial } from "./Trial";

const KIND_WORD: Record<SkillRequest["skill_type"], string> = {
  prompt: "Instructions a bot follows",
  script: "A script without any access: JSON in, JSON out",
  local: "A program on this machine, in the sandbox",
};

type Props = {
  session: Interview;
  request: SkillRequest;
  change: (edits: Partial<SkillRequest>) => void;
};

/** Review of a skill: name, description, permissions and self-test. */
export function SkillReview({ session, request, change }: Props) {
  const may = request.capabilities ?? session.preview.fields.capabilities ?? [];
  return (
    <div className="space-y-3">
      <Panel title="Identity">
        <div className="space-y-3 p-3">
          <Field
            label="Name"
            mono
            required
            maxLength={64}
            autoComplete="off"
            spellCheck={false}
            hint="Lowercase letters, digits and hyphens. Also the name of its folder."
            disabled={session.skill_name !== null}
            value={request.name}
            onChange={(event) => change({ name: event.target.value })}
          />
          <TextArea
            label="Description"
            rows={2}
            maxLength={1024}
            value={request.description}
            onChange={(event) => change({ description: event.target.value })}
          />
        </div>
      </Panel>
      <Panel title="How it works">
        <div className="p-3">
          <Facts>
            <Fact name="Kind">{KIND_WORD[request.skill_type]}</Fact>
            <Fact name="Permissions">
              {may.length === 0 ? (
                <span className="text-dim">none</span>
              ) : (
                <span className="mono">{may.join(", ")}</span>
              )}
            </Fact>
          </Facts>
        </div>
      </Panel>
      {session.trial && <Trial report={session.trial} />}
    </div>
  );
}
