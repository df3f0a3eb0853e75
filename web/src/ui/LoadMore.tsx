import { Button } from "./Button";

type Pages = { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };

/** A button that loads the next page of a list, if there is one. */
export function LoadMore({ of: pages }: { of: Pages }) {
  if (!pages.hasNextPage) return null;
  return (
    <div className="flex justify-center p-3">
      <Button onClick={() => void pages.fetchNextPage()} disabled={pages.isFetchingNextPage}>
        Load more
      </Button>
    </div>
  );
}
