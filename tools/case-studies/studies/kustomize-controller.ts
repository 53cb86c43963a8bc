/** Flux applies what is in archives: applies, changes, repairs, reports what is invalid, and prunes. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Body, Stage, Study } from "../contract.ts";

const controller = "github.com/fluxcd/kustomize-controller";
const sourceController = "github.com/fluxcd/source-controller";
const namespace = "apps";
const flux = "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/apps/kustomizations/shop";
const source = {
  apiVersion: "source.toolkit.fluxcd.io/v1",
  kind: "GitRepository",
  metadata: { name: "shop", namespace },
};
const kept = [
  flux,
  "/api/v1/namespaces/apps/events",
  "/api/v1/namespaces/shop/configmaps",
  "/api/v1/namespaces/shop/services",
  "/api/v1/namespaces/shop/serviceaccounts",
  "/apis/apps/v1/namespaces/shop/deployments",
  "/apis/rbac.authorization.k8s.io/v1/namespaces/shop/rolebindings",
];

export const kustomizeController: Study = {
  name: "kustomize-controller",
  about: "applies archives with 100 objects, changes and repairs them, reports an invalid one, and prunes",
  module: `${controller}@v1.9.0`,
  programs: { "kustomize-controller": "." },
  more: [`${sourceController}@v1.9.0`],
  run,
};

async function run(stage: Stage): Promise<void> {
  const archives = await serveArchives(stage.directory);
  try {
    await prepare(stage);
    await release(stage, archives.publish("1", objects({ image: "nginx:1.27" })));
    await reaches(stage, "v1");
    await stage.keep("applied", ...kept);

    await release(stage, archives.publish("2", objects({ image: "nginx:1.29", maps: 50 })));
    await reaches(stage, "v2");
    await stage.keep("changed and pruned", ...kept);

    await stage.send("DELETE /apis/apps/v1/namespaces/shop/deployments/web");
    await stage.send("DELETE /api/v1/namespaces/shop/configmaps/map-1");
    await request(stage, "repair");
    await stage.until("the Deployment is repaired", "/apis/apps/v1/namespaces/shop/deployments/web", Boolean);
    await stage.until("the request is handled", flux, (body) => body?.status?.lastHandledReconcileAt === "repair");
    await stage.keep("repaired", ...kept);

    await release(stage, archives.publish("3", objects({ image: "nginx:1.29", maps: 50, port: 100_000 })));
    await stage.until("the failure is reported", flux, (body) => readyOf(body)?.status === "False");
    await stage.keep("invalid", ...kept);

    await stage.send(`DELETE ${flux}`);
    await stage.until("everything is pruned", "/api/v1/namespaces/shop", (body) => body === undefined);
    await stage.keep("deleted", "/apis/kustomize.toolkit.fluxcd.io/v1/kustomizations");
  } finally {
    archives.close();
  }
}

async function prepare(stage: Stage): Promise<void> {
  const definitions = ["gitrepositories", "ocirepositories", "buckets", "externalartifacts"];
  await stage.install(
    stage.path(controller, "config/crd/bases/kustomize.toolkit.fluxcd.io_kustomizations.yaml"),
    ...definitions.map((name) =>
      stage.path(sourceController, `config/crd/bases/source.toolkit.fluxcd.io_${name}.yaml`),
    ),
  );
  await stage.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  stage.start("kustomize-controller", ["--metrics-addr=:0", "--health-addr=:0"], { RUNTIME_NAMESPACE: namespace });
  await stage.apply({ ...source, spec: { interval: "1h", url: "https://git.example.com/shop" } });
  await stage.apply({
    apiVersion: "kustomize.toolkit.fluxcd.io/v1",
    kind: "Kustomization",
    metadata: { name: "shop", namespace },
    spec: {
      interval: "1h",
      retryInterval: "1h",
      path: "./",
      prune: true,
      sourceRef: { kind: "GitRepository", name: "shop" },
      postBuild: { substitute: { region: "north" } },
    },
  });
}

interface Archive {
  readonly revision: string;
  readonly url: string;
  readonly digest: string;
}

/** What source-controller does with a new commit. */
async function release(stage: Stage, { revision, url, digest }: Archive): Promise<void> {
  const artifact = { revision, url, digest, path: "shop", lastUpdateTime: "2026-01-01T00:00:00Z" };
  await stage.apply({ ...source, status: { artifact } }, "status");
}

function reaches(stage: Stage, revision: string): Promise<void> {
  return stage.until(`${revision} is applied`, flux, (body) => {
    return body?.status?.lastAppliedRevision === revision && readyOf(body)?.status === "True";
  });
}

function readyOf(body: Body): Body {
  return body?.status?.conditions?.find(({ type }: { type: string }) => type === "Ready");
}

async function request(stage: Stage, value: string): Promise<void> {
  await stage.send(`PATCH ${flux}`, { metadata: { annotations: { "reconcile.fluxcd.io/requestedAt": value } } });
}

function objects({ image = "", maps = 90, port = 80 }): object[] {
  const inShop = (name: string): object => ({ name, namespace: "shop" });
  const labels = { app: "web" };
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" };
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop", labels: { region: "$" + "{region}" } } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata: inShop("web") },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: inShop("web"),
      roleRef,
      subjects: [{ kind: "ServiceAccount", name: "web", namespace: "shop" }],
    },
    { apiVersion: "v1", kind: "Service", metadata: inShop("web"), spec: { selector: labels, ports: [{ port }] } },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: inShop("web"),
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { serviceAccountName: "web", containers: [{ name: "web", image }] } },
      },
    },
    ...Array.from({ length: maps }, (_, index) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: inShop(`map-${index}`),
      data: { image, index: String(index) },
    })),
  ];
}

interface Archives {
  publish(revision: string, objects: readonly object[]): Archive;
  close(): void;
}

async function serveArchives(directory: string): Promise<Archives> {
  const archives = new Map<string, Buffer>();
  const server = createServer((request, response) => {
    response.end(archives.get(request.url ?? ""));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    publish(revision, contents) {
      const folder = join(directory, `archive-${revision}`);
      mkdirSync(folder);
      const list = { apiVersion: "v1", kind: "List", items: contents };
      writeFileSync(join(folder, "objects.yaml"), JSON.stringify(list));
      const owner = ["--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "--sort=name"];
      const archive = gzipSync(execFileSync("tar", [...owner, "-C", folder, "-cf", "-", "."]));
      archives.set(`/${revision}.tar.gz`, archive);
      const digest = `sha256:${createHash("sha256").update(archive).digest("hex")}`;
      return { revision: `v${revision}`, url: `http://127.0.0.1:${port}/${revision}.tar.gz`, digest };
    },
    close: () => void server.close(),
  };
}
