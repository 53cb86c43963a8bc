/** The one place where writes touch `metadata.managedFields`: what is stored stays, what clients send is ignored. Source: resource-api §2.7. */
import type { KubeObject } from "../api/object.ts";

/** @param old undefined on create */
export function trackManagedFields(next: KubeObject, old: KubeObject | undefined): void {
  const kept = old?.metadata.managedFields;
  if (kept === undefined) delete next.metadata.managedFields;
  else next.metadata.managedFields = kept;
}
