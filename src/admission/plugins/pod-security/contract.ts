/**
 * The configuration of the plugin PodSecurity, and what it reports.
 * Source: Kubernetes docs, "Pod Security Admission".
 */
import type { LevelVersion } from "../../../lib/pod-security/levels.ts";
import type { Pod } from "../../../lib/pod-security/pod.ts";
import type { PodTemplateKind } from "../../../lib/pod-security/pod-templates.ts";
import type { Mode, ParsedPolicy, Policy } from "../../../lib/pod-security/policy.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";

/** The configuration; see `PodSecurityConfiguration` in the Kubernetes documentation. */
export interface PodSecurityConfiguration {
  /** For namespaces without labels. */
  readonly defaults: Policy;
  /** Requests that the plugin ignores. */
  readonly exemptions: {
    readonly usernames: ReadonlySet<string>;
    readonly namespaces: ReadonlySet<string>;
    readonly runtimeClasses: ReadonlySet<string>;
  };
}

/** Counts decisions. */
export interface PodSecurityObserver {
  evaluated(decision: "allow" | "deny", policy: LevelVersion, mode: Mode, attributes: AdmissionAttributes): void;
  exempted(attributes: AdmissionAttributes): void;
  /** @param fatal whether the request was not evaluated */
  failed(fatal: boolean, attributes: AdmissionAttributes): void;
}

/** What all parts of the plugin use. */
export interface PodSecurity {
  readonly configuration: PodSecurityConfiguration;
  readonly observer: PodSecurityObserver;
  /** The newest minor version that has checks, which `latest` means; undefined for that of the binary. */
  readonly minorMax: number | undefined;
  /**
   * Returns the policy of the namespace of a request.
   *
   * @throws ApiError 404
   */
  policyOf(attributes: AdmissionAttributes): Promise<ParsedPolicy>;
  /**
   * Rejects, annotates and warns.
   *
   * @throws ApiError 403 if the pod violates the enforced standard
   */
  evaluate(attributes: AdmissionAttributes, evaluation: Evaluation): Promise<void>;
}

/** The pod of a request, and the policy of its namespace. */
export interface Evaluation {
  readonly pod: Pod;
  readonly kind: PodTemplateKind;
  readonly parsed: ParsedPolicy;
  /** Whether violations of the enforced standard reject the request. */
  readonly enforces: boolean;
}
