/** The site: pages that build.ts has prepared, local search, Mermaid diagrams. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitepress";

const site = join(import.meta.dirname, "..");
const sidebar = JSON.parse(readFileSync(join(site, ".pages/sidebar.json"), "utf8"));

/** Anchors as code hosts make them, which `test/docs.test.ts` checks. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, "")
    .replaceAll(" ", "-");

export default defineConfig({
  title: "Coxswain",
  description: "A Kubernetes 1.36 API server in TypeScript",
  srcDir: ".pages",
  outDir: "../../../.site",
  cacheDir: ".cache",
  lastUpdated: false,
  markdown: {
    html: false,
    anchor: { slugify: anchorOf },
    config(markdown) {
      const fence = markdown.renderer.rules.fence;
      markdown.renderer.rules.fence = (tokens, index, ...rest) => {
        const token = tokens[index];
        if (token?.info.trim() !== "mermaid") return fence?.(tokens, index, ...rest) ?? "";
        return `<MermaidDiagram code="${encodeURIComponent(token.content)}" />`;
      };
    },
  },
  themeConfig: {
    nav: [{ text: "Documentation", link: "/docs/README" }],
    outline: "deep",
    search: { provider: "local" },
    sidebar,
  },
});
