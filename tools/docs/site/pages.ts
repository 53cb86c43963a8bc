/**
 * Prepares the pages of the site: copies the documents, and shows each file that they link to, which is not a document, on
 * a page of its own.
 */
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, extname, join, posix, sep } from "node:path";

const documentPatterns = [
  "*.md",
  "docs/**/*.md",
  "src/lib/*/README.md",
  "tools/*/README.md",
  "examples/**/*.md",
  "kit/**/*.md",
];

/**
 * Writes the pages, and the sidebar as sidebar.json.
 *
 * @param root the repository
 * @param directory is created again
 * @returns the paths of the documents
 */
export function writePages(root: string, directory: string): string[] {
  rmSync(directory, { recursive: true, force: true });
  const documents = globSync(documentPatterns, { cwd: root, exclude: ["**/node_modules/**"] })
    .map((file) => file.replaceAll(sep, "/"))
    .sort();
  const sources = new Set<string>();
  for (const file of documents) {
    const text = withoutComments(readFileSync(join(root, file), "utf8"));
    write(directory, file, withPagesOfSources(text, file, sources));
  }
  for (const file of sources) write(directory, `${file}.md`, sourcePage(root, file));
  if (existsSync(join(root, "docs/images")))
    cpSync(join(root, "docs/images"), join(directory, "docs/images"), { recursive: true });
  write(directory, "index.md", home);
  write(directory, "sidebar.json", JSON.stringify(sidebarOf(readFileSync(join(root, "docs/README.md"), "utf8"))));
  return documents;
}

const home = `---
layout: home
hero: {name: Coxswain, text: A Kubernetes API server in TypeScript, actions: [{text: Start, link: /README}, {text: Documentation, link: /docs/README}]}
---
`;

function write(directory: string, file: string, text: string): void {
  mkdirSync(dirname(join(directory, file)), { recursive: true });
  writeFileSync(join(directory, file), text);
}

/** Comments are for the tests of code blocks. */
function withoutComments(text: string): string {
  return text.replace(/^ *<!--.*?-->\n/gms, "");
}

/** Links to files that are not documents lead to the pages that show them. */
function withPagesOfSources(text: string, file: string, sources: Set<string>): string {
  return text.replace(/(\]\(|^\[[^\]]+\]:\s+)([^)\s#]+)(?=[#)\s]|$)/gm, (all, before: string, target: string) => {
    if (/^[a-z]+:/.test(target) || [".md", ".svg", ".png"].includes(extname(target))) return all;
    const path = posix.normalize(posix.join(posix.dirname(file), target)).replace(/\/$/, "");
    sources.add(path);
    return `${before}${posix.relative(posix.dirname(file), path) || "."}.md`;
  });
}

/** The search is for documents. */
const unsearched = "---\nsearch: false\n---\n\n";

/** The text of a file, or the names in a folder. */
function sourcePage(root: string, file: string): string {
  const path = join(root, file);
  if (statSync(path).isDirectory())
    return `${unsearched}# ${file}\n\n${readdirSync(path)
      .map((name) => `- \`${name}\``)
      .join("\n")}\n`;
  const language = extname(file).slice(1) || "txt";
  return `${unsearched}# ${file}\n\n\`\`\`\`\`${language}\n${readFileSync(path, "utf8")}\n\`\`\`\`\`\n`;
}

interface Group {
  readonly text: string;
  readonly items: { text: string; link: string }[];
}

/** The groups of docs/README.md, with the links of their entries. */
export function sidebarOf(text: string): Group[] {
  const [, ...parts] = text.split(/^(?:\*\*|##+ )(?=\S)/m);
  const groups = parts.map((part) => {
    const entries = part.split("\n").filter((line) => line.startsWith("- "));
    const links = entries.flatMap((entry) => [...entry.matchAll(/\[([^\]]+)\]\(([^)\s#]+\.md)[^)]*\)/g)]);
    const items = links.map(([, title = "", link = ""]) => ({
      text: title.replaceAll("`", ""),
      link: `/${posix.join("docs", link).replace(/\.md$/, "")}`,
    }));
    return { text: /^[^*\n]*/.exec(part)?.[0] ?? "", items };
  });
  return groups.filter(({ items }) => items.length > 0);
}
