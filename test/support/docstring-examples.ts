/** The examples in docstrings: blocks of TypeScript after the tag `@example`. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

/** An example, which imports the package by its name. */
export interface DocstringExample {
  /** `src/index.ts: startServer` */
  readonly title: string;
  readonly code: string;
}

/** @returns the examples of all exports under src/ */
export function docstringExamples(): DocstringExample[] {
  const files = globSync("src/**/*.ts", { cwd: root }).sort();
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    const pattern =
      /^ \* @example\n \* ```ts\n((?: \*.*\n)*?) \* ```\n(?: \*.*\n)*? \*\/\nexport .*?(\w+)(?= =|[(<:]| \{| extends)/gm;
    return [...text.matchAll(pattern)].map(([, lines = "", name]) => ({
      title: `${file}: ${name}`,
      code: lines.replace(/^ \* ?/gm, ""),
    }));
  });
}
