import { Link } from "@tanstack/react-router";

const needsKey = (problem: unknown): boolean =>
  typeof problem === "object" && problem !== null && "code" in problem && problem.code === "model_key";

/** A link to the model settings, shown if an answer failed for lack of a key. */
export function KeyLink({ problem }: { problem: unknown }) {
  if (!needsKey(problem)) return null;
  return (
    <Link to="/settings/models" className="mt-1 block w-fit rounded-sm underline underline-offset-2">
      Settings → Models
    </Link>
  );
}
