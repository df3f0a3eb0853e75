import { getRouteApi } from "@tanstack/react-router";
import { ErrorState } from "@/ui/ErrorState";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";
import { CRUMBS } from "../words";
import { OpenedSkill } from "./OpenedSkill";
import { useFolder } from "./useFolder";

const route = getRouteApi("/shell/skills/$name/edit");

/** The editor of an existing skill. */
export function EditSkillPage() {
  const { name } = route.useParams();
  const { folder, error, retry } = useFolder(name);
  if (folder) return <OpenedSkill folder={folder} />;
  return (
    <Page title={`Edit ${name}`} titleTo={`/skills/${name}`} crumbs={CRUMBS}>
      {error ? <ErrorState error={error} retry={retry} /> : <SkeletonRows rows={8} label="Loading files" />}
    </Page>
  );
}
