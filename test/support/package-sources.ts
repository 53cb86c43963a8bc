/** The sources of the exports of the package, for code that imports them by their names. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import packageJson from "../../package.json" with { type: "json" };

const root = join(import.meta.dirname, "../..");

const others: Readonly<Record<string, string>> = {
  coxswain: "src/index.ts",
  "coxswain/cel": "src/lib/cel/public.ts",
  "coxswain/testing": "src/testing/index.ts",
};

/** The names of the exports, and their files from the root of the repository. */
export const packageSources: Readonly<Record<string, string>> = Object.fromEntries(
  Object.keys(packageJson.exports).map((path) => {
    const name = `coxswain${path.slice(1)}`;
    return [name, others[name] ?? `src/lib${path.slice(1)}/index.ts`];
  }),
);

/** Lets a program import the sources. */
export function importingSources(code: string): string {
  return code.replace(/from "(coxswain[\w/-]*)"/g, (_, name: string) => `from "${urlOf(packageSources[name])}"`);
}

function urlOf(file: string | undefined): string {
  return pathToFileURL(join(root, String(file))).href;
}
