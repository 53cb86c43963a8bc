/**
 * The plugin PodTopologyLabels copies the zone and the region of a node to the pods that are
 * created on it or bound to it. Source:
 * k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/podtopologylabels/admission.go.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Catalog } from "../../catalog/contract.ts";
import type { AdmissionPlugin } from "../contract.ts";
import { lookUp } from "../lookup.ts";

const keys = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/**
 * @param enabled whether the feature gate PodTopologyLabelsAdmission is on
 * @returns the plugin PodTopologyLabels
 */
export function podTopologyLabels(catalog: Pick<Catalog, "findResource">, enabled: boolean): AdmissionPlugin {
  const name = "PodTopologyLabels";
  if (!enabled) return { name };
  const nodes = lookUp(catalog, { group: "", resource: "nodes" }, topologyOf);
  const labelFrom = async (node: string, object: KubeObject): Promise<void> =>
    setLabels(object, (await nodes.find("", node)) ?? {});
  return {
    name,
    mutate({ target, subresource, operation, object }) {
      const { group, resource } = target.resource.definition;
      if (resource !== "pods" || group !== "" || operation !== "CREATE" || object === undefined) return;
      const node =
        subresource === "" ? object.spec?.nodeName : subresource === "binding" ? boundNode(object) : undefined;
      if (node !== undefined && node !== "") return labelFrom(node, object);
    },
  };
}

/** The labels of a Binding become those of its pod. */
function boundNode({ target }: KubeObject): string | undefined {
  return target?.kind === "Node" ? target.name : undefined;
}

function topologyOf({ metadata: { labels = {} } }: KubeObject): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => keys.includes(key)));
}

function setLabels({ metadata }: KubeObject, topology: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(topology)) {
    metadata.labels ??= {};
    metadata.labels[key] = value;
  }
}
