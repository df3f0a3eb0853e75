import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { loadEnv } from "vite";
import { defineConfig } from "vitest/config";

/** Where `npm run dev` finds the server. */
const { FORGE_URL: forge = "http://127.0.0.1:8000" } = loadEnv("", ".", "FORGE_");

/** The server answers only to its own name and to its own pages; in development it has to take ours for one. */
const toForge = { target: forge, changeOrigin: true, headers: { origin: forge } };

export default defineConfig({
  plugins: [react(), tailwind()],
  resolve: { alias: { "@": new URL("./src", import.meta.url).pathname } },
  // Inlined assets would be data: addresses, which the server's Content-Security-Policy refuses.
  build: { outDir: "../src/forge/web", emptyOutDir: true, assetsInlineLimit: 0 },
  server: {
    proxy: {
      "/api": toForge,
      // Not without its last stroke: /audits is a page.
      "/audit/": toForge,
      "/health": toForge,
      "/metrics": toForge,
      "/ws": { ...toForge, ws: true },
    },
  },
  // Machines that run tests are busy: a test ends when it is done, not when it is late.
  test: {
    environment: "jsdom",
    setupFiles: "./tests/setup.ts",
    globals: true,
    testTimeout: 60_000,
    maxWorkers: "100%",
  },
});
