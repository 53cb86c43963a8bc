/**
 * Projects whose definitions and samples the test fetches when it runs. This repository contains
 * none of their files.
 */
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { decodeYaml, YamlError } from "../../../src/lib/yaml/decode.ts";

export interface Project {
  readonly name: string;
  /** A Go module with its version, which `go mod download` fetches. */
  readonly module: string;
  /** Globs of files in the module. */
  readonly definitions: readonly string[];
  readonly samples: readonly string[];
}

export const projects: readonly Project[] = [
  {
    name: "gateway-api",
    module: "sigs.k8s.io/gateway-api@v1.3.0",
    definitions: ["config/crd/experimental/*.yaml"],
    samples: ["examples/**/*.yaml", "conformance/tests/*.yaml", "hack/invalid-examples/**/*.yaml"],
  },
  {
    name: "cert-manager",
    module: "github.com/cert-manager/cert-manager@v1.17.2",
    definitions: ["deploy/crds/*.yaml"],
    samples: ["test/**/*.yaml"],
  },
  {
    name: "prometheus-operator",
    module: "github.com/prometheus-operator/prometheus-operator@v0.82.0",
    definitions: ["example/prometheus-operator-crd-full/*.yaml"],
    samples: ["example/**/*.yaml"],
  },
  {
    name: "argo-workflows",
    module: "github.com/argoproj/argo-workflows/v3@v3.6.5",
    definitions: ["manifests/base/crds/{full,minimal}/*.yaml"],
    samples: ["examples/**/*.yaml", "test/e2e/testdata/**/*.yaml"],
  },
  {
    name: "argo-rollouts",
    module: "github.com/argoproj/argo-rollouts@v1.8.2",
    definitions: ["manifests/crds/*.yaml"],
    samples: ["examples/**/*.yaml", "test/e2e/**/*.yaml"],
  },
  {
    name: "istio",
    module: "istio.io/api@v1.24.2",
    definitions: ["kubernetes/customresourcedefinitions.gen.yaml"],
    samples: [],
  },
  {
    name: "cluster-api",
    module: "sigs.k8s.io/cluster-api@v1.10.1",
    definitions: ["{.,bootstrap/kubeadm,controlplane/kubeadm,cmd/clusterctl}/config/crd/bases/*.yaml"],
    samples: ["cmd/clusterctl/**/*.yaml"],
  },
  {
    name: "crossplane",
    module: "github.com/crossplane/crossplane@v1.20.0",
    definitions: ["cluster/crds/*.yaml"],
    samples: ["test/e2e/manifests/**/*.yaml", "cmd/crank/**/*.yaml"],
  },
  {
    name: "knative",
    module: "knative.dev/serving@v0.45.0",
    definitions: ["config/core/300-resources/*.yaml"],
    samples: ["config/**/*.yaml", "test/**/*.yaml"],
  },
  {
    name: "tekton",
    module: "github.com/tektoncd/pipeline@v1.0.0",
    definitions: ["config/300-crds/*.yaml"],
    samples: ["examples/**/*.yaml"],
  },
  {
    name: "kueue",
    module: "sigs.k8s.io/kueue@v0.11.4",
    definitions: ["config/components/crd/bases/*.yaml"],
    samples: ["config/**/*.yaml", "examples/**/*.yaml"],
  },
  {
    name: "karpenter",
    module: "sigs.k8s.io/karpenter@v1.4.0",
    definitions: ["pkg/apis/crds/*.yaml"],
    samples: ["**/examples/**/*.yaml"],
  },
];

/** A JSON object with a kind. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name?: string; readonly labels?: Readonly<Record<string, unknown>> };
  // biome-ignore lint/suspicious/noExplicitAny: as the project wrote it.
  readonly [field: string]: any;
}

/** @returns its directory in Go's module cache, or why it is missing */
export function fetchModule({ module }: Project): { readonly directory: string } | { readonly missing: string } {
  const { status, stdout, stderr, error } = spawnSync("go", ["mod", "download", "-json", module], {
    cwd: "/",
    timeout: 300_000,
  });
  if (error !== undefined) return { missing: error.message };
  const { Dir: directory, Error: problem } =
    stdout.length > 0 ? JSON.parse(stdout.toString()) : { Dir: undefined, Error: stderr.toString() };
  return status === 0 ? { directory } : { missing: problem };
}

/**
 * The objects in the files, in order. Templates, which are not YAML, and YAML without a kind are
 * skipped.
 */
export function readManifests(directory: string, globs: readonly string[]): Manifest[] {
  const files = globs.flatMap((glob) => globSync(glob, { cwd: directory }));
  const texts = [...new Set(files)].sort().map((file) => readFileSync(join(directory, file), "utf8"));
  return texts.flatMap((text) => text.split(/^---.*$/m)).flatMap(readManifest);
}

function readManifest(text: string): Manifest[] {
  try {
    const { value } = decodeYaml(Buffer.from(text));
    return isManifest(value) ? [withoutTemplates(value)] : [];
  } catch (error) {
    if (!(error instanceof YamlError)) throw error;
    return [];
  }
}

function isManifest(value: unknown): value is Manifest {
  const { apiVersion, kind, metadata } = (value ?? {}) as Partial<Manifest>;
  return (
    typeof apiVersion === "string" && typeof kind === "string" && typeof metadata === "object" && metadata !== null
  );
}

/** Removes labels whose values are templates. */
function withoutTemplates({ metadata: { labels = {}, ...metadata }, ...manifest }: Manifest): Manifest {
  const kept = Object.entries(labels).filter(([, value]) => !String(value).includes("{{"));
  return {
    ...manifest,
    metadata: { ...metadata, ...(kept.length > 0 && { labels: Object.fromEntries(kept) }) },
  } as Manifest;
}
