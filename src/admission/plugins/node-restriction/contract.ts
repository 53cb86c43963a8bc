/**
 * Types that the checks of NodeRestriction share.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/noderestriction/admission.go.
 */
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Authorizer } from "../../../authorization/contract.ts";
import type { Catalog } from "../../../catalog/contract.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";

/** What the plugin uses of the server. */
export interface NodeRestrictionNeeds {
  readonly catalog: Pick<Catalog, "findResource">;
  /** Whether a feature gate is on. */
  enabled(gate: string): boolean;
  /** The whole authorizer chain. It can allow audiences that the pods of a node do not name. */
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

/**
 * @param namespace empty for cluster-scoped kinds
 * @returns undefined if the object does not exist
 */
export type FindObject = (kind: LookedUpKind, namespace: string, name: string) => Promise<KubeObject | undefined>;

/** The kinds of objects that checks read. */
export type LookedUpKind =
  | "pod"
  | "node"
  | "serviceaccount"
  | "persistentvolumeclaim"
  | "persistentvolume"
  | "csidriver";

/** @throws ApiError to reject the write */
export type Check = (write: NodeWrite) => Promise<void>;
