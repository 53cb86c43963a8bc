/**
 * IngressClass: the controller of ingresses.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/apis/networking/validation/validation.go`, `k8s.io/kubernetes@v1.36.0/pkg/registry/networking/ingressclass`.
 */
import { type FieldErrors, plainText } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { addInvalid, validateMetaAgain } from "../../apimachinery/validation/metadata.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../lib/names/names.ts";
import { text } from "../column.ts";
import { checkImmutable, type Part, struct } from "../fields.ts";
import { validateReference } from "./reference.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const ingressClassColumns: readonly Column[] = [
  nameColumn,
  text("Controller", "Controller that is responsible for handling this class", ({ spec }) => spec?.controller ?? ""),
  text("Parameters", "A reference to a resource with additional parameters", parameters),
  ageColumn,
];

const controllerBytesMax = 250;

/** The strategy of IngressClass. */
export const ingressClass = strategy({
  columns: ingressClassColumns,
  isolatesStatus: false,
  hasGeneration: true,
  declarative: {},
  setDefaults(object) {
    const { parameters } = struct(object, "spec");
    if (parameters && parameters.scope === undefined) parameters.scope = "Cluster";
  },
  validate: (object, errors) => validateSpec(object.spec ?? {}, errors),
  validateUpdate(next, old, errors) {
    checkImmutable(next.spec?.controller ?? "", old.spec?.controller ?? "", "spec.controller", errors);
    validateMetaAgain(next.metadata, { namespaced: false, validateName: dnsSubdomainProblems }, errors);
    validateSpec(next.spec ?? {}, errors);
  },
});

function validateSpec({ controller = "", parameters }: Part, errors: FieldErrors): void {
  if (Buffer.byteLength(controller) > controllerBytesMax) errors.tooLong("spec.controller", controllerBytesMax);
  validateDomainPrefixedPath(controller, "spec.controller", errors);
  if (parameters !== undefined) validateParameters(parameters, "spec.parameters", errors);
}

const pathPattern = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

/** Validates a controller name such as `example.com/controller`. */
function validateDomainPrefixedPath(text: string, path: string, errors: FieldErrors): void {
  if (text === "") return errors.required(path);
  const slash = text.indexOf("/");
  if (slash < 1 || slash === text.length - 1)
    return errors.invalid(path, text, 'must be a domain-prefixed path (such as "acme.io/foo")');
  const host = text.slice(0, slash);
  addInvalid(errors, path, host, dnsSubdomainProblems(host));
  const rest = text.slice(slash + 1);
  if (!/^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/.test(rest))
    errors.invalid(path, rest, `Invalid path (regex used for validation is '${pathPattern}')`);
}

function validateParameters(parameters: Part, path: string, errors: FieldErrors): void {
  validateReference(parameters, path, errors);
  const { scope, namespace } = parameters;
  if (scope === undefined) errors.required(`${path}.scope`);
  else if (scope === "Namespace") {
    if (namespace === undefined) errors.required(`${path}.namespace`, "`parameters.scope` is set to 'Namespace'");
    else addInvalid(errors, `${path}.namespace`, namespace, dnsLabelProblems(namespace));
  } else if (scope !== "Cluster") errors.notSupported(`${path}.scope`, plainText(scope), ["Cluster", "Namespace"]);
  else if (namespace !== undefined) errors.forbidden(`${path}.namespace`, "`parameters.scope` is set to 'Cluster'");
}

function parameters({ spec }: KubeObject): string {
  const { apiGroup, kind = "", name = "" } = spec?.parameters ?? {};
  if (spec?.parameters === undefined) return "<none>";
  return apiGroup === undefined ? `${kind}/${name}` : `${kind}.${apiGroup}/${name}`;
}
