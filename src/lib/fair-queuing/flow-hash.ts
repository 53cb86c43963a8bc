import { createHash } from "node:crypto";
import type { FlowHash } from "./contract.ts";

/**
 * Hashes what identifies a flow. Callers keep the hash of a flow, because it takes longer than the
 * rest of flow control. Source: `hashFlowID` in
 * k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/apf_controller.go.
 */
export function flowHash(schema: string, distinguisher: string): FlowHash {
  const digest = createHash("sha256").update(schema).update("\0").update(distinguisher).digest();
  return { high: digest.readUInt32LE(4), low: digest.readUInt32LE(0) };
}
