/**
 * NetworkPolicy: the traffic that is allowed to and from the selected pods.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/apis/networking/validation/validation.go`, `k8s.io/kubernetes@v1.36.0/pkg/registry/networking/networkpolicy`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateLegacyPrefix, warnOfPrefix } from "../../apimachinery/validation/ip.ts";
import { addInvalid } from "../../apimachinery/validation/metadata.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import { networkOf, parsePrefix } from "../../lib/ip-range/ip-address.ts";
import { identical } from "../../lib/json/values.ts";
import { portNameProblems, portNumberProblems } from "../../lib/names/names.ts";
import { formatSelector, text } from "../column.ts";
import { items, type Part, struct } from "../fields.ts";
import { isSoundSelector, validateLabelSelector } from "../label-selector.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const networkPolicyColumns: readonly Column[] = [
  nameColumn,
  text(
    "Pod-Selector",
    "podSelector selects the pods to which this NetworkPolicy object applies. The array of rules is applied to any pods selected by this field. An empty selector matches all pods in the policy's namespace. Multiple network policies can select the same set of pods. In this case, the ingress rules for each are combined additively. This field is optional. If it is not specified, it defaults to an empty selector.",
    ({ spec }) => formatSelector(spec?.podSelector),
  ),
  ageColumn,
];

interface Rules {
  /** Gate StrictIPCIDRValidation. */
  readonly strict: boolean;
  /** Accept invalid label values in selectors, because the old policy has some. */
  readonly anyValues: boolean;
  /** CIDRs of the old policy. */
  readonly oldBlocks: readonly string[];
}

/** A selector is a struct in Go, and so never absent. */
const inGo = (spec: Part = {}): Part => ({ podSelector: {}, ...spec });

/** The strategy of NetworkPolicy. */
export const networkPolicy = strategy({
  columns: networkPolicyColumns,
  isolatesStatus: false,
  hasGeneration: true,
  declarative: {},
  raisesGeneration: (next, old) => !identical(inGo(next.spec), inGo(old.spec)), // Upstream distinguishes empty from absent lists here.
  setDefaults(object) {
    const spec = struct(object, "spec");
    for (const rule of [...items(spec.ingress), ...items(spec.egress)])
      for (const port of items(rule.ports)) port.protocol ??= "TCP";
    if (items(spec.policyTypes).length === 0)
      spec.policyTypes = items(spec.egress).length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
  },
  validate(object, errors, { gates }) {
    validateSpec(
      object.spec ?? {},
      { strict: gates.enabled("StrictIPCIDRValidation"), anyValues: false, oldBlocks: [] },
      errors,
    );
  },
  validateUpdate(next, old, errors, { gates }) {
    const anyValues = !isSoundSelector(old.spec?.podSelector ?? {});
    validateSpec(
      next.spec ?? {},
      { strict: gates.enabled("StrictIPCIDRValidation"), anyValues, oldBlocks: blocksOf(old) },
      errors,
    );
  },
  warnings(object) {
    const warnings: string[] = [];
    eachPeer(object.spec ?? {}, ({ ipBlock }, path) => {
      if (ipBlock === undefined) return;
      warnOfPrefix(ipBlock.cidr ?? "", `${path}.ipBlock.cidr`, warnings);
      for (const [index, except] of (ipBlock.except ?? []).entries())
        warnOfPrefix(except, `${path}.ipBlock.except[${index}]`, warnings);
    });
    return warnings;
  },
});

const directions = [
  ["ingress", "from"],
  ["egress", "to"],
] as const;

function eachPeer(spec: Part, visit: (peer: Part, path: string) => void): void {
  for (const [direction, field] of directions) {
    for (const [index, rule] of items(spec[direction]).entries()) {
      for (const [at, peer] of items(rule[field]).entries()) visit(peer, `spec.${direction}[${index}].${field}[${at}]`);
    }
  }
}

function blocksOf(object: KubeObject): string[] {
  const blocks: string[] = [];
  eachPeer(object.spec ?? {}, ({ ipBlock }) => {
    if (ipBlock !== undefined) blocks.push(ipBlock.cidr ?? "", ...(ipBlock.except ?? []));
  });
  return blocks;
}

function validateSpec(spec: Part, rules: Rules, errors: FieldErrors): void {
  validateLabelSelector(spec.podSelector ?? {}, "spec.podSelector", errors, rules);
  for (const [direction, field] of directions) {
    for (const [index, rule] of items(spec[direction]).entries()) {
      const path = `spec.${direction}[${index}]`;
      for (const [at, port] of items(rule.ports).entries()) validatePort(port, `${path}.ports[${at}]`, errors);
      for (const [at, peer] of items(rule[field]).entries())
        validatePeer(peer, `${path}.${field}[${at}]`, rules, errors);
    }
  }
  validateTypes(spec.policyTypes ?? [], errors);
}

function validatePort({ protocol, port, endPort }: Part, path: string, errors: FieldErrors): void {
  if (protocol !== undefined && !["TCP", "UDP", "SCTP"].includes(protocol)) {
    errors.notSupported(`${path}.protocol`, protocol, ["TCP", "UDP", "SCTP"]);
  }
  if (typeof port === "number") {
    addInvalid(errors, `${path}.port`, port, portNumberProblems(port));
    if (endPort === undefined) return;
    if (endPort < port) errors.invalid(`${path}.endPort`, port, "must be greater than or equal to `port`");
    addInvalid(errors, `${path}.endPort`, endPort, portNumberProblems(endPort));
    return;
  }
  if (endPort !== undefined) {
    const state = port === undefined ? "not specified" : "non-numeric";
    errors.invalid(`${path}.endPort`, endPort, `may not be specified when \`port\` is ${state}`);
  }
  if (port !== undefined) addInvalid(errors, `${path}.port`, port, portNameProblems(port));
}

function validatePeer(
  { podSelector, namespaceSelector, ipBlock }: Part,
  path: string,
  rules: Rules,
  errors: FieldErrors,
): void {
  if (podSelector !== undefined) validateLabelSelector(podSelector, `${path}.podSelector`, errors, rules);
  if (namespaceSelector !== undefined)
    validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`, errors, rules);
  if (ipBlock !== undefined) validateBlock(ipBlock, `${path}.ipBlock`, rules, errors);
  const hasSelector = podSelector !== undefined || namespaceSelector !== undefined;
  if (ipBlock === undefined && !hasSelector) errors.required(path, "must specify a peer");
  if (ipBlock !== undefined && hasSelector) errors.forbidden(path, "may not specify both ipBlock and another peer");
}

function validateBlock(
  { cidr = "", except = [] }: Part,
  path: string,
  { strict, oldBlocks }: Rules,
  errors: FieldErrors,
): void {
  if (cidr === "") return errors.covered().required(`${path}.cidr`);
  validateLegacyPrefix(cidr, `${path}.cidr`, { strict, old: oldBlocks }, errors);
  const outer = parsePrefix(cidr);
  if (outer === undefined) return;
  for (const [index, text] of except.entries()) {
    validateLegacyPrefix(text, `${path}.except[${index}]`, { strict, old: oldBlocks }, errors);
    const inner = parsePrefix(text);
    if (inner === undefined || isStrictSubset(inner, outer)) continue;
    errors.invalid(`${path}.except[${index}]`, text, "must be a strict subset of `cidr`");
  }
}

type Prefix = NonNullable<ReturnType<typeof parsePrefix>>;

/** Whether the first address of `inner` is in `outer`, and `inner` has the longer prefix. */
function isStrictSubset(inner: Prefix, outer: Prefix): boolean {
  const [first, network] = [networkOf(inner), networkOf(outer)];
  if (first.family !== network.family || outer.length >= inner.length) return false;
  const hostBits = BigInt(outer.address.width - outer.length);
  const bits = (value: bigint): bigint => (first.family === "IPv4" ? value & 0xffffffffn : value) >> hostBits;
  return bits(first.value) === bits(network.value);
}

function validateTypes(types: readonly string[], errors: FieldErrors): void {
  if (types.length > 2) return errors.invalid("spec.policyTypes", types, "may not specify more than two policyTypes");
  for (const [index, type] of types.entries()) {
    if (type !== "Ingress" && type !== "Egress")
      errors.notSupported(`spec.policyTypes[${index}]`, type, ["Ingress", "Egress"]);
  }
}
