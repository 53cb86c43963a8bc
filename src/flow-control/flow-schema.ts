/** The part of flow schemas that classification needs. */
import type { KubeObject } from "../apimachinery/object.ts";
import { items, type Part } from "../apis/fields.ts";
import type { DistinguisherMethod } from "./contract.ts";

/** A flow schema. */
export interface FlowSchema {
  readonly name: string;
  readonly uid: string;
  /** The name of the priority level. */
  readonly level: string;
  readonly precedence: number;
  readonly distinguisher: DistinguisherMethod | undefined;
  readonly rules: readonly Part[];
}

/** Reads a FlowSchema object. */
export function readFlowSchema({ metadata, spec = {} }: KubeObject): FlowSchema {
  return {
    name: metadata.name ?? "",
    uid: metadata.uid ?? "",
    level: spec.priorityLevelConfiguration?.name ?? "",
    precedence: spec.matchingPrecedence ?? 0,
    distinguisher: spec.distinguisherMethod?.type,
    rules: items(spec.rules),
  };
}
