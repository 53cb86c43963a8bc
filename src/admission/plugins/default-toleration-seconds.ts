/**
 * The plugin DefaultTolerationSeconds lets pods stay on a node that is not ready or unreachable for
 * some time. Source:
 * k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/defaulttolerationseconds/admission.go.
 */
import { items, type Part } from "../../apis/fields.ts";
import type { AdmissionOptions, AdmissionPlugin } from "../contract.ts";

/** Of the flags `--default-not-ready-toleration-seconds` and `--default-unreachable-toleration-seconds`. */
export const defaultSeconds = 300;

const effect = "NoExecute";

/** @returns the plugin DefaultTolerationSeconds */
export function defaultTolerationSeconds(options: AdmissionOptions): AdmissionPlugin {
  const defaults = [
    ["node.kubernetes.io/not-ready", options.notReadyTolerationSeconds ?? defaultSeconds],
    ["node.kubernetes.io/unreachable", options.unreachableTolerationSeconds ?? defaultSeconds],
  ] as const;
  return {
    name: "DefaultTolerationSeconds",
    mutate({ target, subresource, operation, object }) {
      const { group, resource } = target.resource.definition;
      if (resource !== "pods" || group !== "" || subresource !== "" || object?.spec === undefined) return;
      if (operation !== "CREATE" && operation !== "UPDATE") return;
      const own = items(object.spec.tolerations);
      for (const [key, tolerationSeconds] of defaults) {
        if (own.some((toleration) => tolerates(toleration, key))) continue;
        object.spec.tolerations ??= [];
        object.spec.tolerations.push({ key, operator: "Exists", effect, tolerationSeconds });
      }
    },
  };
}

/** Regardless of its operator and seconds. */
function tolerates(toleration: Part, key: string): boolean {
  const { key: own = "", effect: ownEffect = "" } = toleration;
  return (own === key || own === "") && (ownEffect === effect || ownEffect === "");
}
