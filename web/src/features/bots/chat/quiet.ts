/** Actions of a message: always available by keyboard and touch, shown on hover for the mouse. */
export const QUIET =
  "flex opacity-0 transition-opacity group-hover/message:opacity-100 group-focus-within/message:opacity-100 group-data-[last=true]/message:opacity-100 pointer-coarse:opacity-100";
