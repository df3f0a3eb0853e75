import { Play } from "lucide-react";
import { useSelfTest } from "@/api/useSelfTest";
import { Button, type ButtonLook } from "@/ui/Button";

export function SelfTestButton({ look = "plain" }: { look?: ButtonLook }) {
  const selfTest = useSelfTest();
  return (
    <Button look={look} disabled={selfTest.isPending} onClick={() => selfTest.mutate()}>
      <Play size={13} aria-hidden /> Run the self-test
    </Button>
  );
}
