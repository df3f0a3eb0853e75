import { useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import type { ReactNode } from "react";
import { skillsQuery } from "@/api/skills";
import type { StagedSkill } from "@/api/types";
import { CheckField } from "@/ui/CheckField";
import { Fact, Facts } from "@/ui/KeyValues";
import { Tag } from "../../Badges";
import { AskList } from "../../grants/AskList";
import { TierField } from "../../grants/TierField";
import { KINDS, kindOf, TIERS, whereFrom } from "../../words";
import { canInstall, type Decision } from "../choices";
import { Files } from "./Files";
import { Mistakes } from "./Mistakes";
import { Relations } from "./Relations";

type Props = {
  skill: StagedSkill;
  isAlone: boolean;
  decision: Decision;
  change: (changed: Partial<Decision>) => void;
};

/** One skill before its installation: files, changes, requested capabilities and tier. */
export function SkillReview({ skill, isAlone, decision, change }: Props) {
  const { manifest, replaces, is_same: isSame, asks } = skill;
  const kind = kindOf(manifest);
  const isUsable = canInstall(skill);
  return (
    <section
      aria-label={skill.name}
      tabIndex={isAlone ? undefined : 0}
      className={clsx("min-w-0 space-y-4 rounded-md border border-line p-3", !isAlone && "lg:overflow-auto")}
    >
      <header className="space-y-1">
        <div className="flex flex-wrap items-center gap-2">
          <h3 className="text-base font-semibold break-all">{skill.name}</h3>
          <span className="mono text-dim">{versionOf(skill)}</span>
          <Tag title={KINDS[kind].meaning}>{KINDS[kind].word}</Tag>
        </div>
        {manifest && <p className="break-words text-dim">{manifest.description}</p>}
      </header>
      <Mistakes problems={skill.problems} isValid={skill.valid} />
      {isSame && <Note>Already installed and identical. Nothing to install.</Note>}
      {isUsable && (replaces || !isAlone) && (
        <CheckField
          label={replaces ? `Replace version ${replaces}` : "Install"}
          hint={replaces ? "A skill with this name is in the library. Its grants do not carry over." : ""}
          checked={decision.isChosen}
          onChange={(isChosen) => change({ isChosen })}
        />
      )}
      <Facts>
        <Fact name="From">
          <span className="mono break-all">{whereFrom(skill.source)}</span>
        </Fact>
        {manifest?.license && <Fact name="License">{manifest.license}</Fact>}
        {manifest?.compatibility && <Fact name="Works with">{manifest.compatibility}</Fact>}
      </Facts>
      <Relations needs={skill.needs} conflicts={skill.conflicts} />
      <Files files={skill.files} changes={replaces ? skill.changes : []} />
      {isUsable && (
        <>
          <Part title="Requested capabilities">
            {asks.length === 0 ? (
              <p className="text-dim">None. The skill only processes its input.</p>
            ) : (
              <div className="-mx-3 border-y border-line">
                <AskList asks={asks} choice={decision.grants} onChange={(grants) => change({ grants })} />
              </div>
            )}
          </Part>
          <Part title="Trust tier">
            <TierField value={decision.tier} onChange={(tier) => change({ tier })} />
            {replaces && <TierNow name={skill.name} />}
            {kind === "local" && decision.tier !== "local" && (
              <p className="mt-2 text-wait">
                This is a program, which runs only at tier local. It would be installed but not run.
              </p>
            )}
          </Part>
        </>
      )}
    </section>
  );
}

const versionOf = ({ manifest }: StagedSkill): string => manifest?.metadata?.version ?? "";

/** The tier of the installed version does not carry over to this one. */
function TierNow({ name }: { name: string }) {
  const tier = useQuery(skillsQuery).data?.find((skill) => skill.name === name)?.tier;
  return tier && <p className="mt-2 text-dim">The installed version is {TIERS[tier].word}.</p>;
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h4 className="mb-1.5 text-xs font-semibold text-dim">{title}</h4>
      {children}
    </section>
  );
}

function Note({ children }: { children: ReactNode }) {
  return <p className="rounded-md border border-line bg-raised/50 px-2.5 py-1.5 text-dim">{children}</p>;
}
