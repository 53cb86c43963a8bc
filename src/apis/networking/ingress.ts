/**
 * Ingress: routes external requests to services.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/apis/networking/validation/validation.go`, `k8s.io/kubernetes@v1.36.0/pkg/registry/networking/ingress`,
 * `defaults.go` and `conversion.go` of `k8s.io/kubernetes@v1.36.0/pkg/apis/networking/v1beta1`.
 */
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateLegacyIp, warnOfIp } from "../../apimachinery/validation/ip.ts";
import { addInvalid, validateMetaAgain } from "../../apimachinery/validation/metadata.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import type { StoredConversion } from "../../catalog/contract.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { parseIp } from "../../lib/ip-range/ip-address.ts";
import {
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  portNameProblems,
  portNumberProblems,
  wildcardSubdomainProblems,
} from "../../lib/names/names.ts";
import { text } from "../column.ts";
import { loadBalancerAddresses } from "../core/service/columns.ts";
import { items, type Part, setAbsent } from "../fields.ts";
import { validateReference } from "./reference.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const ingressColumns: readonly Column[] = [
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

const classAnnotation = "kubernetes.io/ingress.class";

/** Values that are accepted because the old object has them. */
interface Leniencies {
  readonly anySecretName: boolean;
  readonly anyWildcardRule: boolean;
  /** Gate RelaxedServiceNameValidation: names of services may begin with a digit. */
  readonly relaxedServiceNames: boolean;
}

/** The strategy of Ingress. */
export const ingress = strategy({
  columns: ingressColumns,
  hasGeneration: true,
  prepareForCreate(object) {
    delete object.status;
  },
  validate(object, errors, { gates }) {
    const relaxedServiceNames = gates.enabled("RelaxedServiceNameValidation");
    validateSpec(object.spec ?? {}, { anySecretName: false, anyWildcardRule: false, relaxedServiceNames }, errors);
    const annotation = object.metadata.annotations?.[classAnnotation];
    const { ingressClassName } = object.spec ?? {};
    if (annotation === undefined || ingressClassName === undefined || annotation === ingressClassName) return;
    errors.invalid(
      `annotations.${classAnnotation}`,
      annotation,
      "must match `ingressClassName` when both are specified",
    );
  },
  validateUpdate(next, old, errors, { gates }) {
    validateMetaAgain(next.metadata, { namespaced: true, validateName: dnsSubdomainProblems }, errors);
    validateSpec(next.spec ?? {}, lenienciesOf(old.spec ?? {}, gates.enabled("RelaxedServiceNameValidation")), errors);
  },
  validateStatusUpdate(next, old, errors, { gates }) {
    const known = addressesOf(old).flatMap(({ ip = "" }) => (ip === "" ? [] : [ip]));
    for (const [index, address] of addressesOf(next).entries()) {
      const path = `status.loadBalancer.ingress[${index}]`;
      validateAddress(address, path, { strict: gates.enabled("StrictIPCIDRValidation"), old: known }, errors);
    }
  },
  warnings(object, old) {
    if (
      old !== undefined ||
      object.metadata.annotations?.[classAnnotation] === undefined ||
      object.spec?.ingressClassName !== undefined
    )
      return [];
    return [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`];
  },
  statusWarnings(object) {
    const warnings: string[] = [];
    for (const [index, { ip = "" }] of addressesOf(object).entries())
      if (ip !== "") warnOfIp(ip, `status.loadBalancer.ingress[${index}]`, warnings);
    return warnings;
  },
});

const addressesOf = (object: KubeObject): Part[] => items(object.status?.loadBalancer?.ingress);

function validateAddress(
  { ip = "", hostname = "" }: Part,
  path: string,
  rules: Parameters<typeof validateLegacyIp>[2],
  errors: FieldErrors,
): void {
  if (ip !== "") validateLegacyIp(ip, `${path}.ip`, rules, errors);
  if (hostname === "") return;
  addInvalid(errors, `${path}.hostname`, hostname, dnsSubdomainProblems(hostname));
  if (parseIp(hostname) !== undefined)
    errors.invalid(`${path}.hostname`, hostname, "must be a DNS name, not an IP address");
}

function lenienciesOf(old: Part, relaxed: boolean): Leniencies {
  const rules = items(old.rules);
  const strict = { anySecretName: false, anyWildcardRule: false, relaxedServiceNames: false };
  return {
    anySecretName: items(old.tls).some(
      ({ secretName = "" }) => secretName !== "" && dnsSubdomainProblems(secretName).length > 0,
    ),
    anyWildcardRule: rules.some(
      ({ host = "", http }) => host.includes("*") && http !== undefined && !isSoundHttp(http, strict),
    ),
    relaxedServiceNames:
      relaxed ||
      serviceNamesOf(old).some((name) => dnsLabelProblems(name).length === 0 && dns1035LabelProblems(name).length > 0),
  };
}

function serviceNamesOf(spec: Part): string[] {
  const paths = items(spec.rules).flatMap(({ http }) => items(http?.paths));
  const backends = [spec.defaultBackend, ...paths.map(({ backend }) => backend)];
  return backends.flatMap((backend) => (backend?.service === undefined ? [] : [backend.service.name ?? ""]));
}

function validateSpec(spec: Part, leniencies: Leniencies, errors: FieldErrors): void {
  const { rules, defaultBackend, tls, ingressClassName } = spec;
  if (items(rules).length === 0 && defaultBackend === undefined) {
    errors.invalid("spec", rules ?? null, "either `defaultBackend` or `rules` must be specified");
  }
  if (defaultBackend !== undefined) validateBackend(defaultBackend, "spec.defaultBackend", leniencies, errors);
  for (const [index, rule] of items(rules).entries()) validateRule(rule, `spec.rules[${index}]`, leniencies, errors);
  for (const [index, one] of items(tls).entries()) validateTls(one, `spec.tls[${index}]`, leniencies, errors);
  if (ingressClassName !== undefined)
    addInvalid(errors, "spec.ingressClassName", ingressClassName, dnsSubdomainProblems(ingressClassName));
}

const hostProblems = (host: string): string[] =>
  host.includes("*") ? wildcardSubdomainProblems(host) : dnsSubdomainProblems(host);

function validateTls(
  { hosts = [], secretName = "" }: Part,
  path: string,
  { anySecretName }: Leniencies,
  errors: FieldErrors,
): void {
  for (const [index, host] of hosts.entries()) addInvalid(errors, `${path}.hosts[${index}]`, host, hostProblems(host));
  if (!anySecretName && secretName !== "")
    addInvalid(errors, `${path}.secretName`, secretName, dnsSubdomainProblems(secretName));
}

function validateRule({ host = "", http }: Part, path: string, leniencies: Leniencies, errors: FieldErrors): void {
  if (host !== "") {
    if (parseIp(host) !== undefined) errors.invalid(`${path}.host`, host, "must be a DNS name, not an IP address");
    addInvalid(errors, `${path}.host`, host, hostProblems(host));
  }
  if (http === undefined || (host.includes("*") && leniencies.anyWildcardRule)) return;
  validateHttp(http, `${path}.http`, leniencies, errors);
}

function isSoundHttp(http: Part, leniencies: Leniencies): boolean {
  const errors = new FieldErrors();
  validateHttp(http, "", leniencies, errors);
  return errors.empty;
}

function validateHttp({ paths }: Part, path: string, leniencies: Leniencies, errors: FieldErrors): void {
  if (items(paths).length === 0) errors.required(`${path}.paths`);
  for (const [index, one] of items(paths).entries()) validatePath(one, `${path}.paths[${index}]`, leniencies, errors);
}

const forbiddenParts = ["//", "/./", "/../", "%2f", "%2F"];
const forbiddenEnds = ["/..", "/."];

function validatePath(
  { path: text = "", pathType, backend = {} }: Part,
  path: string,
  leniencies: Leniencies,
  errors: FieldErrors,
): void {
  if (pathType === undefined) return errors.required(`${path}.pathType`, "pathType must be specified");
  const isExact = pathType === "Exact" || pathType === "Prefix";
  if (!isExact && pathType !== "ImplementationSpecific") {
    errors.notSupported(`${path}.pathType`, pathType, ["Exact", "ImplementationSpecific", "Prefix"]);
  } else if (!text.startsWith("/") && (isExact || text !== ""))
    errors.invalid(`${path}.path`, text, "must be an absolute path");
  if (isExact) {
    for (const part of forbiddenParts)
      if (text.includes(part)) errors.invalid(`${path}.path`, text, `must not contain '${part}'`);
    for (const end of forbiddenEnds)
      if (text.endsWith(end)) errors.invalid(`${path}.path`, text, `cannot end with '${end}'`);
  }
  validateBackend(backend, `${path}.backend`, leniencies, errors);
}

function validateBackend({ resource, service }: Part, path: string, leniencies: Leniencies, errors: FieldErrors): void {
  if (resource !== undefined && service !== undefined)
    errors.invalid(path, "", "cannot set both resource and service backends");
  else if (resource !== undefined) validateReference(resource, `${path}.resource`, errors);
  else if (service !== undefined) validateService(service, path, leniencies, errors);
  else errors.invalid(path, "", "resource or service backend is required");
}

function validateService(
  { name = "", port = {} }: Part,
  path: string,
  { relaxedServiceNames }: Leniencies,
  errors: FieldErrors,
): void {
  if (name === "") errors.required(`${path}.service.name`);
  else
    addInvalid(
      errors,
      `${path}.service.name`,
      name,
      (relaxedServiceNames ? dnsLabelProblems : dns1035LabelProblems)(name),
    );
  const { name: portName = "", number = 0 } = port;
  if (portName !== "" && number !== 0) errors.invalid(path, "", "cannot set both port name & port number");
  else if (portName !== "") addInvalid(errors, `${path}.service.port.name`, portName, portNameProblems(portName));
  else if (number !== 0) addInvalid(errors, `${path}.service.port.number`, number, portNumberProblems(number));
  else errors.required(path, "port name or number is required");
}

/** Ingresses of extensions/v1beta1 and networking.k8s.io/v1beta1. */
export const ingressV1beta1: StoredConversion = {
  toStorage(object) {
    const spec: Part = object.spec ?? {};
    const { backend, ...rest } = spec;
    for (const { http } of items(spec.rules)) {
      for (const path of items(http?.paths)) {
        setAbsent(path, { pathType: "ImplementationSpecific" });
        path.backend = convertBackend(path.backend ?? {});
      }
    }
    object.spec = backend ? { ...rest, defaultBackend: convertBackend(backend) } : rest;
    return object;
  },
};

function convertBackend({ serviceName = "", servicePort = 0, ...backend }: Part): Part {
  if (serviceName === "" && servicePort === 0) return backend;
  const port = typeof servicePort === "string" ? { name: servicePort } : { number: servicePort };
  return { ...backend, service: { name: serviceName, port: servicePort === 0 ? {} : port } };
}

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
