/** The kinds of the sequences, with a minimal object and parts to merge into it. */
import { readFileSync } from "node:fs";
import type { Json } from "./change.ts";

export interface Kind {
  readonly kind: string;
  readonly resource: string;
  /** apiVersions; most requests use the first. */
  readonly versions: readonly string[];
  readonly base: Json;
  readonly parts: readonly Json[];
  readonly statusParts?: readonly Json[];
  readonly status?: boolean;
  readonly scale?: boolean;
  readonly custom?: boolean;
  readonly clusterScoped?: boolean;
  /** Further parts for one version. */
  readonly byVersion?: Readonly<Record<string, { readonly base?: Json; readonly parts?: readonly Json[] }>>;
}

const text = readFileSync(new URL("testdata/kinds.json", import.meta.url), "utf8").replaceAll("$NS", "n");
export const { kinds, definitions }: { readonly kinds: readonly Kind[]; readonly definitions: readonly Json[] } =
  JSON.parse(text);

/** The path of the collection, or of one object. */
export function pathOf({ resource, clusterScoped }: Kind, apiVersion: string, name?: string): string {
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${root}${clusterScoped ? "" : "/namespaces/n"}/${resource}${name === undefined ? "" : `/${name}`}`;
}
