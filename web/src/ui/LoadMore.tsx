import { Button } from "./Button";

type Pages = { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };

/** The way to the rest of a list that comes in pages; nothing once all of it is there. */
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
