/** What the checks of NodeRestriction share. */
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Authorizer } from "../../../authorization/contract.ts";
import type { Catalog } from "../../../catalog/contract.ts";
import type { AdmissionAttributes } from "../../contract.ts";

export interface NodeRestrictionNeeds {
  readonly catalog: Pick<Catalog, "findResource">;
  /** Whether a feature gate is on. */
  enabled(gate: string): boolean;
  /** The whole chain: it may allow nodes audiences that their pods do not name. */
  readonly authorize: Authorizer;
}

/** A write of a node. */
export interface NodeWrite {
  /** The node's name, never empty. */
  readonly node: string;
  readonly attributes: AdmissionAttributes;
  readonly find: FindObject;
  readonly needs: NodeRestrictionNeeds;
}

/** @param namespace empty for what has none @returns undefined when it is not there */
export type FindObject = (kind: LookedUpKind, namespace: string, name: string) => Promise<KubeObject | undefined>;

export type LookedUpKind =
  | "pod"
  | "node"
  | "serviceaccount"
  | "persistentvolumeclaim"
  | "persistentvolume"
  | "csidriver";

/** @throws ApiError to refuse */
export type Check = (write: NodeWrite) => void | Promise<void>;
