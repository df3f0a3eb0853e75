import type { UseMutationResult } from "@tanstack/react-query";
import type { StagedSkills } from "@/api/types";
import { Button } from "@/ui/Button";
import { Refusal } from "@/ui/Refusal";
import { Segmented } from "@/ui/Segmented";
import type { Wanted } from "../useInstall";
import { FromFiles } from "./FromFiles";
import { FromGit } from "./FromGit";
import { FromPath } from "./FromPath";
import { FromRegistry } from "./FromRegistry";
import { type SourceForm, WAYS } from "./form";

/** Fetching what is wanted; its error belongs under the way that was tried. */
export type Get = UseMutationResult<StagedSkills, Error, Wanted>;

export type WayProps = { form: SourceForm; change: (changed: Partial<SourceForm>) => void; get: Get };

/** Where the skills are: on this machine, in a repository, in a registry, or on the server. */
export function Source({ form, change, get, close }: WayProps & { close: () => void }) {
  const Way = FORMS[form.way];
  return (
    <div className="mt-4 space-y-4">
      <div className="max-w-full overflow-x-auto">
        <Segmented
          label="Where from"
          value={form.way}
          options={WAYS}
          onChange={(way) => {
            get.reset();
            change({ way });
          }}
        />
      </div>
      <Way form={form} change={change} get={get} />
      <Refusal error={get.error} />
      <p role="status" className="sr-only">
        {get.isPending && "Fetching."}
      </p>
      {form.way === "registry" || form.way === "files" ? (
        <div className="flex justify-end">
          <Button look="ghost" onClick={close}>
            Close
          </Button>
        </div>
      ) : null}
    </div>
  );
}

const FORMS = { files: FromFiles, git: FromGit, registry: FromRegistry, path: FromPath } as const;
