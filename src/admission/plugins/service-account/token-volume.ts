/**
 * Mounts the token of a service account into the containers of a new pod. Source:
 * `mountServiceAccountToken` in
 * k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/serviceaccount/admission.go.
 */
import { items, type Part } from "../../../apis/fields.ts";

const namePrefix = "kube-api-access-";
const mountPath = "/var/run/secrets/kubernetes.io/serviceaccount";
/** One hour and seven seconds, by which kubelets and the issuer recognize these tokens. */
const expirationSeconds = 3607;

/**
 * A pod that has a volume with such a name gets no other one, and a container that mounts the path
 * keeps its mount.
 *
 * @param generateName returns the prefix with random characters
 */
export function mountToken(spec: Part, generateName: (prefix: string) => string): void {
  const existing = items(spec.volumes).find(({ name = "" }) => name.startsWith(namePrefix));
  let name: string | undefined = existing?.name;
  for (const containers of [spec.initContainers, spec.containers]) {
    for (const container of items(containers)) {
      if (items(container.volumeMounts).some((mount) => mount.mountPath === mountPath)) continue;
      name ??= generateName(namePrefix);
      append(container, "volumeMounts", { name, readOnly: true, mountPath });
    }
  }
  if (existing === undefined && name !== undefined) append(spec, "volumes", { name, projected: tokenSource() });
}

function append(target: Part, field: string, value: Part): void {
  if (target[field] === undefined) target[field] = [value];
  else target[field].push(value);
}

/** The token, the authorities of this server, and the pod's namespace. */
function tokenSource(): Part {
  return {
    sources: [
      { serviceAccountToken: { expirationSeconds, path: "token" } },
      { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
      {
        downwardAPI: {
          items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }],
        },
      },
    ],
    defaultMode: 0o644,
  };
}
