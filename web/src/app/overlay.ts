/** The overlays; at most one is open. */
export type Overlay = "palette" | "help" | "menu";
