/**
 * Which versions of etcd answer progress requests only after all events before them. Source:
 * `k8s.io/apiserver@v0.36.0/pkg/storage/feature/feature_support_checker.go`, etcd's issue 15220.
 */
import type { StatusResponse } from "./api/messages.ts";

/** @returns false when a member is older, or none is known */
export function answersProgress(statuses: readonly Pick<StatusResponse, "version">[]): boolean {
  return statuses.length > 0 && statuses.every(({ version }) => isFixed(version));
}

function isFixed(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map((part) => Number.parseInt(part, 10));
  if (major !== 3) return major > 3;
  if (minor === 4) return patch >= 31;
  return minor > 5 || (minor === 5 && patch >= 13);
}
