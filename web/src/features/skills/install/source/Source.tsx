import type { UseMutationResult } from "@tanstack/react-query";
import type { StagedSkills } from "@/api/types";
import { Segmented } from "@/ui/Segmented";
import type { Wanted } from "../useInstall";
import { FromFiles } from "./FromFiles";
import { FromGit } from "./FromGit";
import { FromPath } from "./FromPath";
import { FromRegistry } from "./FromRegistry";
import { type SourceForm, WAYS } from "./form";

/** The fetch mutation, shared by all sources. */
export type Get = UseMutationResult<StagedSkills, Error, Wanted>;

export type WayProps = {
  form: SourceForm;
  change: (changed: Partial<SourceForm>) => void;
  get: Get;
  close: () => void;
};

/** Choose the source: this computer, a repository, a registry or the server. */
export function Source({ form, change, get, close }: WayProps) {
  const Way = FORMS[form.way];
  return (
    <div className="mt-4 space-y-4">
      <div className="max-w-full overflow-x-auto">
        <Segmented
          label="Source"
          value={form.way}
          options={WAYS}
          onChange={(way) => {
            get.reset();
            change({ way });
          }}
        />
      </div>
      <Way form={form} change={change} get={get} close={close} />
      <p role="status" className="sr-only">
        {get.isPending && "Fetching…"}
      </p>
    </div>
  );
}

const FORMS = { files: FromFiles, git: FromGit, registry: FromRegistry, path: FromPath } as const;
