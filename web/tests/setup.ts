import "@testing-library/jest-dom/vitest";

// jsdom has no layout, so it has no scrolling either.
Element.prototype.scrollIntoView = () => undefined;
