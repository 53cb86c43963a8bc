/** What names, labels and keys may look like; the rules themselves know no server. */
export * from "../../lib/names/names.ts";
