/**
 * The configuration of the plugins of webhooks and policies.
 * Source: k8s.io/apiserver@v0.36.0/pkg/admission/plugin/webhook/config/kubeconfig.go,
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/policy/config/config.go,
 * k8s.io/apiserver@v0.36.0/pkg/admission/plugin/manifest/validation.go.
 */
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import {
  ConfigurationError,
  type ConfigurationKind,
  decodeConfiguration,
} from "../../apimachinery/configuration-file.ts";
import { configKind, text } from "../../apimachinery/configuration-schema.ts";
import type { FeatureGates } from "../../apimachinery/feature-gates.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import { schemeName } from "./configuration-file.ts";
import type { ManifestConfiguration, ManifestPlugin, ParseConfiguration } from "./contract.ts";
import { readWebhookCredentials, withoutCredentials } from "./webhook-credentials.ts";

/** The fields of a configuration; absent ones are empty. */
interface ConfigurationFields {
  /** An absolute path. */
  readonly kubeConfigFile: string;
  /** An absolute path of an existing directory. */
  readonly staticManifestsDir: string;
}

const gate = "ManifestBasedAdmissionControlConfig";

/** @returns the parser of the configuration of a plugin, which reads the kubeconfig too */
export function manifestParser(plugin: ManifestPlugin): ParseConfiguration<ManifestConfiguration> {
  return async (bytes, gates) => {
    const { kubeConfigFile, staticManifestsDir } = await decodeManifestConfiguration(plugin, bytes, gates);
    return {
      staticManifestsDir: staticManifestsDir === "" ? undefined : staticManifestsDir,
      findCredentials: kubeConfigFile === "" ? withoutCredentials : await readWebhookCredentials(kubeConfigFile),
    };
  };
}

/**
 * Decodes and validates the configuration of a plugin.
 *
 * @throws ConfigurationError with upstream's message
 */
export async function decodeManifestConfiguration(
  plugin: ManifestPlugin,
  bytes: Buffer,
  gates: FeatureGates,
): Promise<ConfigurationFields> {
  const { kinds, accepted } = plugin.endsWith("Webhook") ? webhooks : policies(plugin);
  const { kind, object } = decodeConfiguration(bytes, kinds, schemeName);
  if (kind !== accepted) throw new ConfigurationError(`unexpected type: *policyconfig.${kind}`);
  const { kubeConfigFile = "", staticManifestsDir = "" } = object as Partial<ConfigurationFields>;
  const errors = new FieldErrors();
  if (kubeConfigFile !== "" && !isAbsolute(kubeConfigFile))
    errors.invalid("kubeConfigFile", kubeConfigFile, "must be an absolute file path");
  else if (staticManifestsDir !== "") await checkDirectory(staticManifestsDir, gates, errors);
  if (!errors.empty) throw new ConfigurationError(errors.text);
  return { kubeConfigFile, staticManifestsDir };
}

interface AcceptedKinds {
  readonly kinds: readonly ConfigurationKind[];
  readonly accepted: string;
}

const apiVersion = "apiserver.config.k8s.io/v1";

const webhooks: AcceptedKinds = {
  accepted: "WebhookAdmissionConfiguration",
  kinds: [
    {
      apiVersion,
      kind: "WebhookAdmissionConfiguration",
      schema: configKind("v1.WebhookAdmission", { kubeConfigFile: text, staticManifestsDir: text }),
    },
  ],
};

const policyKinds: readonly ConfigurationKind[] = ["Mutating", "Validating"].map((type) => {
  const kind = `${type}AdmissionPolicyConfiguration`;
  return { apiVersion, kind, schema: configKind(`v1.${kind}`, { staticManifestsDir: text }) };
});

/** Both kinds can be decoded, but each plugin accepts only its own. */
function policies(plugin: ManifestPlugin): AcceptedKinds {
  return { kinds: policyKinds, accepted: `${plugin}Configuration` };
}

async function checkDirectory(path: string, gates: FeatureGates, errors: FieldErrors): Promise<void> {
  const field = "staticManifestsDir";
  if (!gates.enabled(gate))
    return errors.forbidden(field, `staticManifestsDir requires the ${gate} feature gate to be enabled`);
  if (!isAbsolute(path)) return errors.invalid(field, path, "must be an absolute file path");
  const found = await statOf(path);
  if (typeof found === "string") errors.invalid(field, path, `unable to read: ${found}`);
  else if (!found.isDirectory) errors.invalid(field, path, "must be a directory");
}

/** @returns Go's error message if the path cannot be read */
async function statOf(path: string): Promise<{ readonly isDirectory: boolean } | string> {
  try {
    return { isDirectory: (await stat(path)).isDirectory() };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    if (code === "ENOENT") return `stat ${path}: no such file or directory`;
    return code === "EACCES" ? `stat ${path}: permission denied` : message;
  }
}
