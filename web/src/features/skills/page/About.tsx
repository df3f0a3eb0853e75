import { Link } from "@tanstack/react-router";
import type { SkillDetail } from "@/api/types";
import { CopyButton } from "@/ui/CopyButton";
import { Fact, Facts } from "@/ui/KeyValues";
import { Panel } from "@/ui/Panel";
import { Ago } from "@/ui/Time";
import { KINDS, TIERS, whereFrom } from "../words";

export function About({ skill }: { skill: SkillDetail }) {
  return (
    <Panel title="About">
      <div className="p-3">
        <Facts>
          <Fact name="Kind">{KINDS[skill.kind].meaning}</Fact>
          {skill.entry && (
            <Fact name="Entry">
              <Link
                to="/skills/$name/source"
                params={{ name: skill.name }}
                search={{ file: skill.entry }}
                className="mono rounded-sm underline decoration-strong underline-offset-2"
              >
                {skill.entry}
              </Link>
            </Fact>
          )}
          <Fact name="Version">
            <span className="mono">{skill.version}</span>
          </Fact>
          <Fact name="Tier">
            {TIERS[skill.tier].word}
            <span className="block text-xs text-dim">{TIERS[skill.tier].meaning}</span>
          </Fact>
          <Fact name="Source">
            <span className={skill.source.type === "own" || skill.source.type === "starter" ? "" : "mono"}>
              {whereFrom(skill.source)}
            </span>
          </Fact>
          {skill.installed_at && (
            <Fact name="Installed">
              <Ago at={skill.installed_at} />
            </Fact>
          )}
          {skill.changed_at && (
            <Fact name="Changed">
              <Ago at={skill.changed_at} />
            </Fact>
          )}
          <Fact name="Folder">
            <span className="flex items-start gap-1">
              <span className="mono min-w-0 break-all">{skill.folder}</span>
              <span className="-my-1 shrink-0">
                <CopyButton text={skill.folder} label="Copy path" iconOnly />
              </span>
            </span>
          </Fact>
        </Facts>
      </div>
    </Panel>
  );
}

/** The front matter of `SKILL.md`. */
export function Manifest({ skill: { manifest } }: { skill: SkillDetail }) {
  if (!manifest) return null;
  const rows = [
    ["name", manifest.name],
    ["license", manifest.license],
    ["compatibility", manifest.compatibility],
    ["allowed-tools", manifest["allowed-tools"]],
    ...Object.entries(manifest.metadata),
  ].filter(([, value]) => value != null && value !== "");
  return (
    <Panel title="Manifest">
      <table className="w-full table-fixed text-left">
        <tbody className="divide-y divide-line">
          {rows.map(([key, value]) => (
            <tr key={key}>
              <th scope="row" className="mono w-2/5 px-3 py-1 align-top font-normal break-words text-dim">
                {key}
              </th>
              <td className="mono py-1 pr-3 align-top break-words whitespace-pre-wrap">{value}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}
