/**
 * The plugin ServiceAccount gives each new pod a service account, its token and its image pull
 * secrets, and rejects pods whose account does not exist or does not permit their secrets. Source:
 * k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/serviceaccount/admission.go.
 */
import { type ApiError, plainError } from "../../../apimachinery/errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { isMirrorPod, podReferences } from "../../../apimachinery/pod-references.ts";
import { items, type Part, struct } from "../../../apis/fields.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import type { RegistryContext } from "../../../registry/contract.ts";
import { generateName } from "../../../registry/prepare.ts";
import type { AdmissionPlugin } from "../../contract.ts";
import { unreadableName } from "../../lookup.ts";
import { rejection } from "../../rejection.ts";
import { type Account, type AccountsNeeds, defaultAccountName, serviceAccounts } from "./accounts.ts";
import { containerSecretProblem, secretProblem } from "./mountable-secrets.ts";
import { mountToken } from "./token-volume.ts";

type Needs = AccountsNeeds & Pick<RegistryContext, "random">;

/** @returns the plugin ServiceAccount */
export function serviceAccount(needs: Needs): AdmissionPlugin {
  const accounts = serviceAccounts(needs);
  const getAccount = async (attributes: AdmissionAttributes, spec: Part): Promise<Account> => {
    const { namespace } = attributes;
    const name: string = spec.serviceAccountName ?? "";
    if (name === "") throw rejection(attributes, `no service account specified for pod ${podName(attributes)}`);
    const account = await accounts.find(namespace, name);
    if (account !== undefined) return account;
    const why = unreadableName(name) ?? `serviceaccount ${quoteGo(name)} not found`;
    throw rejection(attributes, `error looking up service account ${namespace}/${name}: ${why}`);
  };
  const mutatePod = async (attributes: AdmissionAttributes, pod: KubeObject): Promise<void> => {
    if (isMirrorPod(pod)) return checkMirrorPod(attributes, pod);
    const spec = struct(pod, "spec");
    if ((spec.serviceAccountName ?? "") === "") {
      spec.serviceAccountName = defaultAccountName;
      spec.serviceAccount = defaultAccountName; // The deprecated name of the field.
    }
    const account = await getAccount(attributes, spec);
    setDefaults(spec, account, needs);
    checkSecrets(attributes, account, spec);
  };
  const validatePod = async (attributes: AdmissionAttributes, pod: KubeObject): Promise<void> => {
    const spec = pod.spec ?? {};
    if (attributes.operation === "UPDATE" && attributes.subresource === "ephemeralcontainers")
      return checkEphemeralContainers(await getAccount(attributes, spec), spec);
    if (attributes.operation !== "CREATE") return;
    if (isMirrorPod(pod)) return checkMirrorPod(attributes, pod);
    checkSecrets(attributes, await getAccount(attributes, spec), spec);
  };
  return {
    name: "ServiceAccount",
    mutate(attributes) {
      const pod = podOf(attributes);
      if (pod !== undefined && attributes.operation === "CREATE") return mutatePod(attributes, pod);
    },
    validate(attributes) {
      const pod = podOf(attributes);
      if (pod !== undefined) return validatePod(attributes, pod);
    },
  };
}

function podOf({ target, subresource, object }: AdmissionAttributes): KubeObject | undefined {
  const { group, resource } = target.resource.definition;
  if (resource !== "pods" || group !== "") return undefined;
  return subresource === "" || subresource === "ephemeralcontainers" ? object : undefined;
}

function podName({ namespace, object }: AdmissionAttributes): string {
  return `${namespace}/${object?.metadata.name ?? ""}`;
}

function setDefaults(spec: Part, account: Account, needs: Needs): void {
  if (spec.automountServiceAccountToken ?? account.automountsToken ?? true)
    mountToken(spec, (prefix) => generateName(needs, prefix));
  if (items(spec.imagePullSecrets).length === 0 && account.imagePullSecrets.length > 0)
    spec.imagePullSecrets = account.imagePullSecrets.map((name) => ({ name }));
}

function checkSecrets(attributes: AdmissionAttributes, account: Account, spec: Part): void {
  const problem = secretProblem(account, spec);
  if (problem !== undefined) throw rejection(attributes, problem);
}

/** Upstream returns an error without a status, so the code is 500. */
function checkEphemeralContainers(account: Account, spec: Part): void {
  const problem = containerSecretProblem(account, "ephemeral container", spec.ephemeralContainers);
  if (problem !== undefined) throw plainError(problem);
}

/** Kubelets create mirror pods, whose spec must not change. */
function checkMirrorPod(attributes: AdmissionAttributes, pod: KubeObject): void {
  const spec = pod.spec ?? {};
  const reject = (what: string): ApiError => rejection(attributes, `a mirror pod may not ${what}`);
  if ((spec.serviceAccountName ?? "") !== "") throw reject("reference service accounts");
  const hasSecret = [...podReferences(pod)].some(([kind]) => kind === "secret");
  if (hasSecret) throw reject("reference secrets");
  const hasToken = items(spec.volumes).some(({ projected }) =>
    items(projected?.sources).some(({ serviceAccountToken }) => serviceAccountToken !== undefined),
  );
  if (hasToken) throw reject("use ServiceAccountToken volume projections");
}
