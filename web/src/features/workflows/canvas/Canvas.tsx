import type { CanvasView } from "./contract";

export function Canvas({ definition }: CanvasView) {
  return <p>{definition.name}</p>;
}
