/** The shape of src/data/resources.json: every built-in resource, groups in discovery order, resources by name. */
import { readTable } from "../data/data-file.ts";

export interface ResourcesTable {
  /** Query parameters by operation: get list post put patch delete deletecollection. */
  readonly commonQuery: Readonly<Record<string, readonly string[]>>;
  readonly resources: readonly ResourceRow[];
}

export interface ResourceRow {
  readonly group: string;
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly namespaced?: true;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** PUT may create. */
  readonly createOnUpdate?: true;
  /** PUT must carry a resourceVersion. */
  readonly conditionalUpdate?: true;
  readonly deleteReturnsObject?: true;
  /** Absent for virtual resources. */
  readonly storage?: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
    readonly prefix: string;
    readonly hash: string;
  };
  /** In order of preference. */
  readonly versions: readonly VersionRow[];
}

export interface VersionRow {
  readonly version: string;
  /** Without being asked for. */
  readonly served?: true;
  /** Its fields are not those of the stored version, so that it can be served only with a conversion. */
  readonly converted?: true;
  /** Absent: all eight. */
  readonly verbs?: readonly string[];
  /** Since, removed in, replaced by; empty where unknown. */
  readonly deprecated?: readonly [since: string, removedIn: string, replacement: string];
  readonly subresources?: readonly SubresourceRow[];
}

export interface SubresourceRow {
  readonly name: string;
  readonly verbs: readonly string[];
  readonly kind: string;
  readonly kindGroupVersion?: { readonly group: string; readonly version: string };
  readonly connect?: readonly string[];
  /** Query parameters of its own, by operation. */
  readonly query?: Readonly<Record<string, readonly string[]>>;
  /** Answers with text rather than an object. */
  readonly plainText?: true;
}

/** Reads the table; about a millisecond. */
export function readResourcesTable(): ResourcesTable {
  return readTable("resources.json");
}
