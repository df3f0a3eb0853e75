/** The layout of sidebar and page. */
export const FRAME = "grid h-dvh lg:grid-cols-[216px_minmax(0,1fr)]";
export const SIDE = "overflow-y-auto border-r border-line max-lg:hidden";
