import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["**/*.vitest.test.mjs"],
    testTimeout: 30_000, // 5 s by default
    hookTimeout: 30_000, // 10 s by default; the server starts in a hook
  },
});
