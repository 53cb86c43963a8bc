/** Parts of the generated pages. */

/** The line below the title of each generated page. */
export const generatedNote = "<!-- Written by `npm run generate`. Change the code that it describes instead. -->";

/** @returns a table; cells are Markdown */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |\n`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("");
}

/** @returns text as a code span in a cell; nothing for no text */
export function code(text: string | undefined): string {
  return text === undefined || text === "" ? "" : `\`${text.replaceAll("|", "\\|")}\``;
}

/** @returns plain text for a cell, in which flags, names with underscores and code spans are code */
export function prose(text: string): string {
  const parts = text.split(/(`[^`]*`)/);
  return parts
    .map((part) => (part.startsWith("`") ? part.replaceAll("|", "\\|") : withoutMarkup(part).replace(codeLike, "`$&`")))
    .join("");
}

/** Flags, and names that Markdown would otherwise format. */
const codeLike = /(?<![\w`-])--[a-z][a-z0-9-]*\*?|\b\w+_\w+\b/g;

function withoutMarkup(text: string): string {
  return text
    .replaceAll("|", "\\|")
    .replaceAll("<", "&lt;")
    .replace(/(?<!-)\*(?=[\s,.]|$)/g, "\\*");
}
