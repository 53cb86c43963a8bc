/**
 * The versions of built-in kinds that servers no longer serve, but still read from storage: the
 * table `src/apimachinery/data/stored-types.json`, which is read when the first such object is.
 */

import { readTable } from "../apimachinery/data/data-file.ts";
import { formatGroupVersion } from "../apimachinery/object.ts";
import type { TypeRow } from "./types-table.ts";

interface StoredTable {
  /** The definition of `apps/v1beta2/Deployment`; that of another version if both are encoded alike. */
  readonly kinds: Readonly<Record<string, string>>;
  /** Types that `src/apimachinery/data/types.json` does not have. */
  readonly types: Readonly<Record<string, TypeRow>>;
}

function table(): StoredTable {
  return readTable("stored-types.json");
}

/** The name of the definition of a kind at a version that is only stored. */
export function storedDefinitionOf(group: string, version: string, kind: string): string | undefined {
  const key = `${formatGroupVersion(group, version)}/${kind}`;
  return Object.hasOwn(table().kinds, key) ? table().kinds[key] : undefined;
}

/** A type of a version that is only stored. */
export function storedTypeRow(definition: string): TypeRow | undefined {
  return Object.hasOwn(table().types, definition) ? table().types[definition] : undefined;
}

/** The kinds at versions that are only stored, such as `apps/v1beta2/Deployment`. */
export function storedKinds(): string[] {
  return Object.keys(table().kinds);
}
