import "@testing-library/jest-dom/vitest";
import { configure } from "@testing-library/react";

// The timeout of `waitFor` and `findBy…`.
configure({ asyncUtilTimeout: 30_000 });

// jsdom has no layout, so it has no scrolling either.
Element.prototype.scrollIntoView = () => undefined;

// Nor does text have a position, which CodeMirror measures.
Range.prototype.getClientRects = () => [] as unknown as DOMRectList;
