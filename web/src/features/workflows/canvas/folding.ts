import { createContext, useContext } from "react";
import type { Box } from "./boxes";

/** How a frame on the canvas is folded to one box, and unfolded. */
export type Fold = (box: Box, isFolded: boolean) => void;
export const FoldContext = createContext<Fold>(() => undefined);

export const useFold = (): Fold => useContext(FoldContext);
