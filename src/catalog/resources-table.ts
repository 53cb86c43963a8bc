/**
 * The types of src/apimachinery/data/resources.json: all built-in resources, groups in discovery order,
 * resources by name.
 */
import { readTable } from "../apimachinery/data/data-file.ts";

/** The whole table. */
export interface ResourcesTable {
  /** Query parameters by operation: get list post put patch delete deletecollection. */
  readonly commonQuery: Readonly<Record<string, readonly string[]>>;
  readonly resources: readonly ResourceRow[];
}

/** One resource. */
export interface ResourceRow {
  readonly group: string;
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced?: true;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** A PUT can create an object. */
  readonly createOnUpdate?: true;
  /** A PUT requires a resourceVersion. */
  readonly conditionalUpdate?: true;
  readonly deleteReturnsObject?: true;
  /** Absent for virtual resources. */
  readonly storage?: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
    readonly prefix: string;
    readonly hash: string;
    /**
     * Other versions, for stores that releases before `before` share, such as 34; from the newest.
     * Their fields are those of `version`.
     */
    readonly before?: readonly (readonly [before: number, version: string, hash: string])[];
  };
  /** In priority order. */
  readonly versions: readonly VersionRow[];
}

/** One version of a resource. */
export interface VersionRow {
  readonly version: string;
  /** Served by default. */
  readonly served?: true;
  /** Its fields differ from those of the storage version, so that it requires a conversion. */
  readonly converted?: true;
  /** The release that introduced it, such as 34, if it is one that can be emulated and not the oldest of them. */
  readonly introduced?: number;
  /** The first release that does not serve it, if it is one that can be emulated. */
  readonly removed?: number;
  /** All eight if absent. */
  readonly verbs?: readonly string[];
  /** Empty texts if unknown. */
  readonly deprecated?: readonly [since: string, removedIn: string, replacement: string];
  readonly subresources?: readonly SubresourceRow[];
}

/** One subresource of a version. */
export interface SubresourceRow {
  readonly name: string;
  readonly verbs: readonly string[];
  readonly kind: string;
  readonly kindGroupVersion?: { readonly group: string; readonly version: string };
  readonly connect?: readonly string[];
  /** Additional query parameters by operation. */
  readonly query?: Readonly<Record<string, readonly string[]>>;
  /** The response is text instead of an object. */
  readonly plainText?: true;
  /** It cannot be shown as a Table. */
  readonly noTables?: true;
}

/** Reads the table. */
export function readResourcesTable(): ResourcesTable {
  return readTable("resources.json");
}
