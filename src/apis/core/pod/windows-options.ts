/**
 * Validation of Windows options, and of pods with HostProcess containers.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import { type FieldErrors, typedText } from "../../../apimachinery/field-errors.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { dnsSubdomainProblems } from "../../../lib/names/names.ts";
import type { Part } from "../../fields.ts";
import { visitContainers } from "./visit-containers.ts";

const credentialKiBMax = 64;
const domainLengthBelow = 256;
const userLengthMax = 104;

export function validateWindowsOptions(options: Part, path: string, errors: FieldErrors): void {
  const { gmsaCredentialSpecName: name, gmsaCredentialSpec: credential, runAsUserName } = options;
  if (name !== undefined)
    addInvalid(errors, `${path}.gmsaCredentialSpecName`, typedText(name), dnsSubdomainProblems(name));
  if (credential === "")
    errors.invalid(`${path}.gmsaCredentialSpec`, credential, "gmsaCredentialSpec cannot be an empty string");
  else if (credential !== undefined && Buffer.byteLength(credential) > credentialKiBMax * 1024) {
    errors.invalid(
      `${path}.gmsaCredentialSpec`,
      typedText(credential),
      `gmsaCredentialSpec size must be under ${credentialKiBMax} KiB`,
    );
  }
  if (runAsUserName !== undefined)
    addInvalid(errors, `${path}.runAsUserName`, typedText(runAsUserName), userNameProblems(runAsUserName));
}

/** @returns the problems of a text of the form `user` or `domain\user` */
function userNameProblems(text: string): string[] {
  if (text === "") return ["runAsUserName cannot be an empty string"];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the names must not have them.
  if (/[\x00-\x1f\x7f]/.test(text)) return ["runAsUserName cannot contain control characters"];
  const parts = text.split("\\", 3);
  if (parts.length > 2) return ["runAsUserName cannot contain more than one backslash"];
  const user = parts.at(-1) as string;
  return [...(parts.length === 2 ? domainProblems(parts[0] as string) : []), ...userProblems(user)];
}

function domainProblems(domain: string): string[] {
  const problems: string[] = [];
  if (Buffer.byteLength(domain) >= domainLengthBelow)
    problems.push(`runAsUserName's Domain length must be under ${domainLengthBelow} characters`);
  const isNetBios = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/u.test(domain);
  if (!isNetBios && !isDomain(domain))
    problems.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  return problems;
}

const isDomain = (text: string): boolean =>
  text.split(".").every((label) => /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/.test(label));

function userProblems(user: string): string[] {
  const problems: string[] = [];
  if (user === "") problems.push("runAsUserName's User cannot be empty");
  if (Buffer.byteLength(user) > userLengthMax)
    problems.push(`runAsUserName's User length must not be longer than ${userLengthMax} characters`);
  if (/^[. ]+$/.test(user)) problems.push("runAsUserName's User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    problems.push("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
  }
  return problems;
}

/** If any container is a HostProcess container, all must be. @param path of the spec */
export function validateHostProcess(
  spec: Part,
  path: string,
  { forbidsPrivileged }: { readonly forbidsPrivileged: boolean },
  errors: FieldErrors,
): void {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  const counts = { all: 0, host: 0 };
  visitContainers(spec, path, ({ securityContext }, at) => {
    const own = securityContext?.windowsOptions?.hostProcess;
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      const why = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
      errors.invalid(`${at}.securityContext.windowsOptions.hostProcess`, own, why);
    }
    counts.all++;
    if (own ?? ofPod) counts.host++;
  });
  if (counts.host === 0) return;
  if (counts.host !== counts.all) {
    errors.invalid(
      path,
      "",
      "If pod contains any hostProcess containers then all containers must be HostProcess containers",
    );
  }
  if (spec.hostNetwork !== true) {
    errors.invalid(`${path}.hostNetwork`, false, "hostNetwork must be true if pod contains any hostProcess containers");
  }
  if (forbidsPrivileged) errors.forbidden(path, "hostProcess containers are disallowed by cluster policy");
}
