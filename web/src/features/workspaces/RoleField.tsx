import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { modelsQuery } from "@/api/models";
import type { AgentRole } from "@/api/types";
import { Select } from "@/ui/Select";

const ROLES: readonly AgentRole[] = ["builder", "planner", "auditor", "recovery", "utility"];

/** The role only selects the model; all agents have the same tools. */
export function RoleField({ role, onRole }: { role: AgentRole; onRole: (role: AgentRole) => void }) {
  const choices = useQuery(modelsQuery).data?.roles;
  const chosen = choices?.find((choice) => choice.role === role);
  const label = (name: AgentRole) => {
    const model = choices?.find((choice) => choice.role === name)?.chain[0];
    return model ? `${name} · ${model}` : name;
  };
  return (
    <div>
      <p aria-hidden className="mb-1 text-xs font-medium text-dim">
        Role
      </p>
      <Select
        label="Role"
        value={role}
        options={ROLES.map((name) => ({ value: name, label: label(name) }))}
        onChange={(value) => onRole(value as AgentRole)}
        className="w-full sm:w-auto sm:min-w-72"
      />
      <p className="mt-1 text-xs text-dim">
        {chosen?.problem && <span className="text-bad">{chosen.problem} </span>}
        Choose the model for each role in{" "}
        <Link to="/settings/models" className="rounded-sm underline decoration-strong underline-offset-2">
          Settings, Models
        </Link>
        .
      </p>
    </div>
  );
}
