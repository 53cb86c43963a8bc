/**
 * Columns of the networking kinds. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { formatGroupResource } from "../../apimachinery/object.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { formatSelector, text } from "../column.ts";
import { loadBalancerAddresses } from "../core/service/columns.ts";
import { items } from "../fields.ts";

export const ingressColumns: readonly Column[] = [
  nameColumn,
  text(
    "Class",
    "The name of the IngressClass resource that should be used for additional configuration",
    ({ spec }) => spec?.ingressClassName ?? "<none>",
  ),
  text("Hosts", "Hosts that incoming requests are matched against before the ingress rule", hosts),
  text("Address", "Address is a list containing ingress points for the load-balancer", ({ status }) =>
    loadBalancerAddresses(status).join(","),
  ),
  text("Ports", "Ports of TLS configurations that open", ({ spec }) =>
    items(spec?.tls).length === 0 ? "80" : "80, 443",
  ),
  ageColumn,
];

export const ingressClassColumns: readonly Column[] = [
  nameColumn,
  text("Controller", "Controller that is responsible for handling this class", ({ spec }) => spec?.controller ?? ""),
  text("Parameters", "A reference to a resource with additional parameters", parameters),
  ageColumn,
];

export const ipAddressColumns: readonly Column[] = [
  nameColumn,
  text(
    "ParentRef",
    "ParentRef references the resource that an IPAddress is attached to. An IPAddress must reference a parent object.",
    parent,
  ),
];

export const networkPolicyColumns: readonly Column[] = [
  nameColumn,
  text(
    "Pod-Selector",
    "podSelector selects the pods to which this NetworkPolicy object applies. The array of rules is applied to any pods selected by this field. An empty selector matches all pods in the policy's namespace. Multiple network policies can select the same set of pods. In this case, the ingress rules for each are combined additively. This field is optional. If it is not specified, it defaults to an empty selector.",
    ({ spec }) => formatSelector(spec?.podSelector),
  ),
  ageColumn,
];

export const serviceCidrColumns: readonly Column[] = [
  nameColumn,
  text(
    "CIDRs",
    'CIDRs defines the IP blocks in CIDR notation (e.g. "192.168.0.0/24" or "2001:db8::/64") from which to assign service cluster IPs. Max of two CIDRs is allowed, one of each IP family. This field is immutable.',
    ({ spec }) => (spec?.cidrs ?? []).join(","),
  ),
  ageColumn,
];

/**
 * The first three hosts. The number of others includes rules without a host, as upstream's does.
 */
function hosts({ spec }: KubeObject): string {
  const rules = items(spec?.rules);
  const named = rules.flatMap(({ host }, index) => (host ? [{ host, index }] : []));
  if (named.length === 0) return "*";
  const shown = named.slice(0, 3);
  const text = shown.map(({ host }) => host).join(",");
  const isMore = shown.length === 3 && rules.length - 1 > (shown[2] as { index: number }).index;
  return isMore ? `${text} + ${rules.length - 3} more...` : text;
}

function parameters({ spec }: KubeObject): string {
  const { apiGroup, kind = "", name = "" } = spec?.parameters ?? {};
  if (spec?.parameters === undefined) return "<none>";
  return apiGroup === undefined ? `${kind}/${name}` : `${kind}.${apiGroup}/${name}`;
}

function parent({ spec }: KubeObject): string {
  if (spec?.parentRef === undefined) return "<none>";
  const { group = "", resource = "", namespace = "", name = "" } = spec.parentRef;
  return [formatGroupResource({ group, resource }).toLowerCase(), ...(namespace === "" ? [] : [namespace]), name].join(
    "/",
  );
}
