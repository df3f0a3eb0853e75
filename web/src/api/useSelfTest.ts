import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { startSelfTest } from "./runs";

/** Start the self-test and open its page. */
export function useSelfTest() {
  const navigate = useNavigate();
  return useMutation({
    mutationFn: startSelfTest,
    onSuccess: (run) => navigate({ to: "/runs/$runId", params: { runId: run.id } }),
  });
}
