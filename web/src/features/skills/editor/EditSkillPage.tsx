import { getRouteApi } from "@tanstack/react-router";
import { ErrorState } from "@/ui/ErrorState";
import { Page } from "@/ui/Page";
import { SkeletonRows } from "@/ui/Skeleton";
import { OpenedSkill } from "./OpenedSkill";
import { useFolder } from "./useFolder";

const route = getRouteApi("/shell/skills/$name/edit");

/** A skill of the library, to write in. */
export function EditSkillPage() {
  const { name } = route.useParams();
  const { folder, error, retry } = useFolder(name);
  const crumbs = [
    { label: "Skills", to: "/skills" },
    { label: name, to: `/skills/${name}` },
  ];
  if (folder) return <OpenedSkill folder={folder} crumbs={crumbs} />;
  return (
    <Page title="Edit" crumbs={crumbs}>
      {error ? (
        <ErrorState error={error} retry={retry} />
      ) : (
        <SkeletonRows rows={8} label="Loading the files" />
      )}
    </Page>
  );
}
