/**
 * The configuration of the plugin PodTolerationRestriction.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/podtolerationrestriction.
 */
import { ConfigurationError, decodeConfiguration } from "../../../apimachinery/configuration-file.ts";
import { configKind, listOf } from "../../../apimachinery/configuration-schema.ts";
import { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { validateTolerations } from "../../../apis/core/pod/tolerations.ts";
import type { Part } from "../../../apis/fields.ts";
import { builtinSchema } from "../../../catalog/builtin-schemas.ts";
import { schemeName } from "../../config/configuration-file.ts";

/** Tolerations for namespaces that have no annotations. */
export interface TolerationConfiguration {
  /** Added to new pods. */
  readonly defaults: readonly Part[];
  /** The tolerations that pods can have; empty for all. */
  readonly allowed: readonly Part[];
}

/** @throws ConfigurationError with upstream's message */
export function parseTolerations(bytes: Buffer): TolerationConfiguration {
  const tolerations = listOf(builtinSchema("io.k8s.api.core.v1.Toleration"));
  const kind = {
    apiVersion: "podtolerationrestriction.admission.k8s.io/v1alpha1",
    kind: "Configuration",
    schema: configKind("v1alpha1.Configuration", { default: tolerations, whitelist: tolerations }),
  };
  const { object } = decodeConfiguration(bytes, [kind], schemeName, { strict: false });
  const [defaults, allowed] = [object.default ?? [], object.whitelist ?? []] as [Part[], Part[]];
  const errors = new FieldErrors();
  const rules = { comparingTolerations: false }; // Upstream ignores the gate here.
  validateTolerations(defaults, "podtolerationrestriction.default", rules, errors);
  validateTolerations(allowed, "podtolerationrestriction.whitelist", rules, errors);
  if (errors.empty) return { defaults, allowed };
  const messages = errors.causes.map(({ field, message }) => `${field}: ${message}`);
  throw new ConfigurationError(`invalid config: [${messages.join(" ")}]`);
}
