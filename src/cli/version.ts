/** The versions of this program. */
import packageJson from "../../package.json" with { type: "json" };

/** The version of this package, and of the API that it serves: `Coxswain v0.1.0 (Kubernetes v1.36)`. */
export function versionText(): string {
  return `Coxswain v${packageJson.version} (Kubernetes v1.36)`;
}

/** The version of this package: `0.1.0`. */
export const packageVersion: string = packageJson.version;
