/**
 * The plugin PodGroupWorkloadExists rejects new PodGroups whose Workload, or its template, does not
 * exist. Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/podgroup/admission.go.
 */
import { internalError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { items } from "../../apis/fields.ts";
import type { Catalog } from "../../catalog/contract.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { AdmissionPlugin } from "../contract.ts";
import { lookUp, unreadableName } from "../lookup.ts";
import { rejection } from "../rejection.ts";

const group = "scheduling.k8s.io";

interface Workload {
  readonly isDeleted: boolean;
  /** The names of its templates. */
  readonly templates: ReadonlySet<string>;
}

/**
 * @param enabled whether the feature gate GenericWorkload is on
 * @returns the plugin PodGroupWorkloadExists
 */
export function podGroupWorkloadExists(catalog: Pick<Catalog, "findResource">, enabled: boolean): AdmissionPlugin {
  const name = "PodGroupWorkloadExists";
  if (!enabled) return { name };
  const workloads = lookUp(catalog, { group, resource: "workloads" }, workloadOf);
  return {
    name,
    async validate(attributes) {
      const { target, subresource, operation, namespace, object } = attributes;
      const { definition } = target.resource;
      if (definition.resource !== "podgroups" || definition.group !== group) return;
      if (subresource !== "" || operation !== "CREATE") return;
      const reference = object?.spec?.podGroupTemplateRef?.workload;
      if (reference === undefined) return;
      const { workloadName = "", podGroupTemplateName = "" } = reference;
      const workload = await workloads.find(namespace, workloadName);
      const unreadable = workload === undefined ? unreadableName(workloadName) : undefined;
      if (unreadable !== undefined) throw internalError(unreadable);
      const problem = problemOf(workload, quoteGo(workloadName), podGroupTemplateName);
      if (problem !== undefined) throw rejection(attributes, `PodGroup rejected: ${problem}`);
    },
  };
}

function workloadOf({ metadata, spec }: KubeObject): Workload {
  const templates = items(spec?.podGroupTemplates).map((template) => template.name ?? "");
  return { isDeleted: metadata.deletionTimestamp !== undefined, templates: new Set(templates) };
}

function problemOf(workload: Workload | undefined, name: string, template: string): string | undefined {
  if (workload === undefined) return `Workload ${name} not found`;
  if (workload.isDeleted) return `Workload ${name} is being deleted`;
  if (!workload.templates.has(template)) return `PodGroupTemplate ${quoteGo(template)} not found in Workload ${name}`;
  return undefined;
}
