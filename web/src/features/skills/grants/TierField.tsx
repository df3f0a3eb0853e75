import { clsx } from "clsx";
import { useId } from "react";
import type { SkillTier } from "@/api/types";
import { TIERS } from "../words";

type Props = {
  value: SkillTier;
  onChange: (tier: SkillTier) => void;
  disabled?: boolean;
};

const ORDER: readonly SkillTier[] = ["untrusted", "verified", "local"];

/** The trust tiers with their meaning and limits. */
export function TierField({ value, onChange, disabled = false }: Props) {
  const name = useId();
  return (
    <fieldset disabled={disabled} className="grid gap-2 sm:grid-cols-3">
      <legend className="sr-only">Tier</legend>
      {ORDER.map((tier) => {
        const { word, meaning, takes } = TIERS[tier];
        return (
          <label
            key={tier}
            className={clsx(
              "flex gap-2 rounded-md border p-2.5 has-focus-visible:outline-2 has-focus-visible:outline-accent",
              tier === value ? "border-accent bg-raised/40" : "border-line",
              disabled ? "opacity-60" : "cursor-pointer hover:border-strong",
            )}
          >
            <input
              type="radio"
              name={name}
              checked={tier === value}
              onChange={() => onChange(tier)}
              className="mt-[3px] size-3.5 shrink-0 accent-accent"
            />
            <span className="min-w-0">
              <span className="block font-medium">{word}</span>
              <span className="block text-dim">{meaning}</span>
              <span className="mono mt-1 block text-faint">{takes}</span>
            </span>
          </label>
        );
      })}
    </fieldset>
  );
}
