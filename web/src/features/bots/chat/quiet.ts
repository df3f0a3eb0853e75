/** What can be done with a message: always there for the keyboard and for fingers, in sight for a mouse that is near. */
export const QUIET =
  "flex opacity-0 transition-opacity group-hover/message:opacity-100 group-focus-within/message:opacity-100 group-data-[last=true]/message:opacity-100 pointer-coarse:opacity-100";
