/** The custom resource Website, and the requests that its controller sends. */
import * as k8s from "@kubernetes/client-node";

export interface Website {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: k8s.V1ObjectMeta & { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly spec: { readonly image: string; readonly replicas: number };
  readonly status?: WebsiteStatus;
}

export interface WebsiteStatus {
  readonly observedGeneration?: number | undefined;
  readonly readyReplicas?: number;
}

/** What the controller needs of a cluster. */
export interface WebsiteClients {
  websites(namespace: string): k8s.Informer<k8s.KubernetesObject> & k8s.ObjectCache<k8s.KubernetesObject>;
  deployments(namespace: string): k8s.Informer<k8s.V1Deployment>;
  /** Applies it as `website-controller`. */
  apply(deployment: k8s.V1Deployment): Promise<k8s.V1Deployment>;
  /** Replaces the status. */
  patchStatus(website: Website, status: WebsiteStatus): Promise<void>;
  /** Replaces the whole object. */
  replace(website: Website): Promise<void>;
}

const resource = { group: "example.com", version: "v1", plural: "websites" };

export function websiteClients(config: k8s.KubeConfig): WebsiteClients {
  const custom = config.makeApiClient(k8s.CustomObjectsApi);
  const apps = config.makeApiClient(k8s.AppsV1Api);
  const objects = k8s.KubernetesObjectApi.makeApiClient(config);
  const at = ({ metadata: { name, namespace } }: Website) => ({ ...resource, name, namespace });
  return {
    websites: (namespace) =>
      k8s.makeInformer(config, `/apis/example.com/v1/namespaces/${namespace}/websites`, () =>
        custom.listNamespacedCustomObject({ ...resource, namespace }),
      ),
    deployments: (namespace) =>
      k8s.makeInformer(config, `/apis/apps/v1/namespaces/${namespace}/deployments`, () =>
        apps.listNamespacedDeployment({ namespace }),
      ),
    apply: (deployment) =>
      objects.patch(
        deployment as k8s.KubernetesObject,
        undefined,
        undefined,
        "website-controller",
        true,
        k8s.PatchStrategy.ServerSideApply,
      ) as Promise<k8s.V1Deployment>,
    async patchStatus(website, status) {
      const options = k8s.setHeaderOptions("Content-Type", k8s.PatchStrategy.MergePatch);
      await custom.patchNamespacedCustomObjectStatus({ ...at(website), body: { status } }, options);
    },
    async replace(website) {
      await custom.replaceNamespacedCustomObject({ ...at(website), body: website });
    },
  };
}
