import "@testing-library/jest-dom/vitest";
import { configure } from "@testing-library/react";

// How long `waitFor` and `findBy…` look before they give up.
configure({ asyncUtilTimeout: 30_000 });

// jsdom has no layout, so it has no scrolling either.
Element.prototype.scrollIntoView = () => undefined;
