/**
 * Authorizes changes of a claim's status: changes of the allocation require access to
 * `resourceclaims/binding`, changes of device statuses access to `resourceclaims/driver` for each
 * driver.
 *
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/resource/resourceclaim/strategy.go,
 *         KEP-4817
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { serviceAccountOf } from "../../apimachinery/service-account.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import { equalGoForms } from "../../catalog/go-equality.ts";
import { goForm } from "../../catalog/go-form.ts";
import type { AccessCheck, FindDenial } from "../../catalog/strategy-contract.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { items, type Part } from "../fields.ts";

/** A check of access to a subresource of `resourceclaims` that exists for authorization only. */
type ClaimAccessCheck = Omit<AccessCheck, "group" | "version" | "resource">;

/** @returns the error message when the authorizer denies it; undefined when it allows it */
export type FindClaimDenial = (check: ClaimAccessCheck) => Promise<string | undefined>;

/** Limits access checks to subresources of `resourceclaims`. */
export function claimDenials(findDenial: FindDenial): FindClaimDenial {
  return (check) => findDenial({ ...check, group: "resource.k8s.io", version: "v1", resource: "resourceclaims" });
}

/** A write of a claim's status. */
interface StatusWrite {
  readonly user: UserInfo;
  /** `update` or `patch`. */
  readonly verb: string;
  readonly next: KubeObject;
  readonly old: KubeObject;
}

/** Adds an error for each change that the user has no permission for. */
export async function checkStatusRights(
  write: StatusWrite,
  findDenial: FindClaimDenial,
  errors: FieldErrors,
): Promise<void> {
  await checkBinding(write, findDenial, errors);
  // Without an allocation, device statuses are dropped.
  if (write.next.status?.allocation) await checkDrivers(write, findDenial, errors);
}

async function checkBinding(
  { user, verb, next, old }: StatusWrite,
  findDenial: FindClaimDenial,
  errors: FieldErrors,
): Promise<void> {
  if (isSameBinding(next.status ?? {}, old.status ?? {})) return;
  const problem = await findDenial({ user, verb, subresource: "binding", namespace: "", name: "" });
  if (problem === undefined) return;
  const needed = `resource="resourceclaims/binding", verb=${quoteGo(verb)}`;
  errors.forbidden(
    "status.allocation",
    `changing status.allocation or status.reservedFor requires ${needed} permission: ${problem}`,
  );
}

function isSameBinding(next: Part, old: Part): boolean {
  if (!deepEqual(items(next.reservedFor), items(old.reservedFor))) return false;
  if (!next.allocation || !old.allocation) return !next.allocation && !old.allocation;
  return equalGoForms(goForm("AllocationResult", next.allocation), goForm("AllocationResult", old.allocation));
}

async function checkDrivers(
  { user, verb, next, old }: StatusWrite,
  findDenial: FindClaimDenial,
  errors: FieldErrors,
): Promise<void> {
  const verbs = [
    ...(runsOn(user, nodeOf(next.status.allocation)) ? [`associated-node:${verb}`] : []),
    `arbitrary-node:${verb}`,
  ];
  const request = { user, subresource: "driver" as const, namespace: next.metadata.namespace ?? "" };
  for (const name of changedDrivers(items(next.status.devices), items(old.status?.devices))) {
    const problem = await firstProblem(verbs, (one) => findDenial({ ...request, verb: one, name }));
    if (problem === undefined) continue;
    const needed = `resource="resourceclaims/driver", verb="[${verbs.join(" ")}]"`;
    errors.forbidden("status.devices", `changing status.devices requires ${needed} permission: ${problem}`);
  }
}

/**
 * Permission for one of the verbs is enough.
 *
 * @returns the error for the first verb, if all are denied
 */
async function firstProblem(
  verbs: readonly string[],
  findProblem: (verb: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  const problems: string[] = [];
  for (const verb of verbs) {
    const problem = await findProblem(verb);
    if (problem === undefined) return undefined;
    problems.push(problem);
  }
  return problems[0];
}

/** Drivers of added, removed and changed entries. */
function changedDrivers(next: readonly Part[], old: readonly Part[]): readonly string[] {
  const keyOf = ({ driver = "", pool = "", device = "", shareID = "" }: Part): string =>
    JSON.stringify([driver, pool, device, shareID]);
  const before = new Map(old.map((device) => [keyOf(device), device]));
  const changed = new Set<string>();
  for (const device of next) {
    if (!deepEqual(before.get(keyOf(device)), device)) changed.add(device.driver ?? "");
    before.delete(keyOf(device));
  }
  for (const { driver = "" } of before.values()) changed.add(driver);
  return [...changed].sort();
}

/**
 * @returns the node of an allocation whose selector is exactly one node name; empty for any other
 *   selector
 */
function nodeOf({ nodeSelector }: Part): string {
  const terms = items(nodeSelector?.nodeSelectorTerms);
  const [{ matchExpressions, matchFields } = {} as Part] = terms;
  const [{ key, operator, values = [] } = {} as Part] = items(matchFields);
  const isOne = terms.length === 1 && items(matchExpressions).length === 0 && items(matchFields).length === 1;
  return isOne && key === "metadata.name" && operator === "In" && values.length === 1 ? values[0] : "";
}

/** Whether the user is a service account with a token bound to a pod of the node. */
function runsOn({ name, extra }: UserInfo, node: string): boolean {
  const nodes = extra.get("authentication.kubernetes.io/node-name") ?? [];
  if (node === "" || serviceAccountOf(name) === undefined || nodes.length !== 1) return false;
  return nodes[0] === node && dnsSubdomainProblems(node).length === 0;
}
