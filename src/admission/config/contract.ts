/** The configuration that admission plugins read from files. */
import type { FeatureGates } from "../../apimachinery/feature-gates.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Address, WebhookEndpoint } from "../../webhook/contract.ts";

/**
 * Decodes, defaults and validates the configuration of one plugin. A plugin without a configuration
 * has its defaults, and its parser is not called.
 *
 * @param bytes the content of the file, or the embedded configuration as JSON
 * @throws Error with upstream's message, which the caller prefixes with the name of the plugin
 */
export type ParseConfiguration<T> = (bytes: Buffer, gates: FeatureGates, logger: Pick<Logger, "warn">) => Promise<T>;

/** The plugins that can have static manifests. */
export type ManifestPlugin =
  | "MutatingAdmissionPolicy"
  | "MutatingAdmissionWebhook"
  | "ValidatingAdmissionPolicy"
  | "ValidatingAdmissionWebhook";

/** The kinds of static manifests, all of `admissionregistration.k8s.io/v1`. */
export type StaticKind =
  | "MutatingAdmissionPolicy"
  | "MutatingAdmissionPolicyBinding"
  | "MutatingWebhookConfiguration"
  | "ValidatingAdmissionPolicy"
  | "ValidatingAdmissionPolicyBinding"
  | "ValidatingWebhookConfiguration";

/** The credentials that the server presents to a webhook. */
export type WebhookCredentials = Pick<WebhookEndpoint, "cert" | "key" | "token" | "tokenFile" | "basic">;

/**
 * Finds the credentials for a webhook, and reads the files that they refer to.
 *
 * @param address the host and port of the URL, port 443 by default; the host of a service is
 *   `name.namespace.svc`
 * @throws Error with upstream's message when a file cannot be read, or the credentials are invalid
 */
export type FindCredentials = (address: Address) => Promise<WebhookCredentials>;

/** The configuration of a plugin of webhooks or policies. */
export interface ManifestConfiguration {
  /** An absolute path; undefined if there are no static manifests. */
  readonly staticManifestsDir: string | undefined;
  /** Only the webhook plugins use it. */
  readonly findCredentials: FindCredentials;
}

/**
 * The static manifests of one plugin. Source: KEP-5793, "Manifest Based Admission Control Config".
 */
export interface StaticManifests {
  /**
   * The valid objects of one kind, with defaults, sorted by name. The list is never changed; a
   * reload replaces the lists of all kinds at once.
   */
  current(kind: StaticKind): readonly KubeObject[];
  /** Calls the listener after each reload. @returns a function that removes the listener */
  onChange(listener: () => void): () => void;
  /** Stops watching the directory. */
  close(): void;
}

/** Counts loads of static manifests. */
export interface ManifestObserver {
  /** @param hash of the files, `sha256:…`; empty without files */
  loaded(plugin: ManifestPlugin, hash: string): void;
  /** A reload failed. The objects of the last load stay in use. */
  failed(plugin: ManifestPlugin): void;
}
