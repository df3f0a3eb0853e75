import { createContext, useContext } from "react";
import type { Box } from "./boxes";

/** Folds or unfolds a frame on the canvas. */
export type Fold = (box: Box, isFolded: boolean) => void;
export const FoldContext = createContext<Fold>(() => undefined);

export const useFold = (): Fold => useContext(FoldContext);
