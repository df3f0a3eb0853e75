import "@testing-library/jest-dom/vitest";
import { configure } from "@testing-library/react";

// How long `waitFor` and `findBy…` look before they give up.
configure({ asyncUtilTimeout: 30_000 });

// jsdom has no layout, so it has no scrolling either.
Element.prototype.scrollIntoView = () => undefined;

// Nor has text a place in it, which CodeMirror measures.
Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
