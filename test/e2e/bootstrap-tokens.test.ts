/**
 * Bootstrap tokens: authentication with a token, the signed cluster-info that anonymous users read,
 * and expiry.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { compactVerify } from "jose";
import { field } from "../support/kubeconfig-fields.ts";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { skipWithout } from "../support/needs.ts";
import { type Answer, rawClient } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { startTestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";

const secrets = "/api/v1/namespaces/kube-system/secrets";
const clusterInfo = "/api/v1/namespaces/kube-public/configmaps/cluster-info";
const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/kube-public";
const token = "abcdef.0123456789abcdef";
const directory = mkdtempSync(join(tmpdir(), "coxswain-bootstrap-"));

const { server, client: admin } = await startServerWithClient({
  bootstrapTokenAuth: true,
  controllers: ["*", "bootstrapsigner", "tokencleaner"],
});
after(() => rmSync(directory, { recursive: true, force: true }));

async function created(path: string, body: object): Promise<Answer["body"]> {
  const answer = await admin.send({ method: "POST", path, body });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

const secret = (id: string, more: Readonly<Record<string, string>> = {}): object => ({
  metadata: { name: `bootstrap-token-${id}` },
  type: "bootstrap.kubernetes.io/token",
  stringData: {
    "token-id": id,
    "token-secret": "0123456789abcdef",
    "usage-bootstrap-authentication": "true",
    "usage-bootstrap-signing": "true",
    ...more,
  },
});

const whoIs = (bearer: string): Promise<Answer> =>
  admin.send({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
    headers: { authorization: `Bearer ${bearer}` },
    body: {},
    anonymous: true,
  });

/** Repeats the request until the controllers are done. */
async function until(path: string, holds: (answer: Answer) => boolean, anonymous = false): Promise<Answer> {
  return eventually(`${path} is as expected`, async () => {
    const answer = await admin.send({ path, anonymous });
    return holds(answer) && answer;
  });
}

test("a token authenticates as a bootstrapper until its secret is deleted", async () => {
  assert.equal((await whoIs(token)).status, 401);
  await created(secrets, secret("abcdef", { "auth-extra-groups": "system:bootstrappers:workers" }));
  const { status, body } = await whoIs(token);
  assert.equal(status, 201);
  assert.deepEqual(body.status.userInfo, {
    username: "system:bootstrap:abcdef",
    groups: ["system:bootstrappers", "system:bootstrappers:workers", "system:authenticated"],
  });
  const kubelet = { authorization: `Bearer ${token}` };
  assert.equal((await admin.send({ path: "/api/v1/nodes", headers: kubelet, anonymous: true })).status, 403);
  assert.equal((await admin.send({ method: "DELETE", path: `${secrets}/bootstrap-token-abcdef` })).status, 200);
  assert.equal((await whoIs(token)).status, 401);
});

test("cluster-info is signed with each signing token, and anonymous users read it if a binding allows it", async () => {
  await created(secrets, secret("signer"));
  await created("/api/v1/namespaces/kube-public/configmaps", {
    metadata: { name: "cluster-info" },
    data: { kubeconfig: "the cluster" },
  });
  assert.equal((await admin.send({ path: clusterInfo, anonymous: true })).status, 403);
  const name = "kubeadm:bootstrap-signer-clusterinfo";
  await created(`${rbac}/roles`, {
    metadata: { name },
    rules: [{ verbs: ["get"], apiGroups: [""], resources: ["configmaps"], resourceNames: ["cluster-info"] }],
  });
  await created(`${rbac}/rolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
    subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "system:anonymous" }],
  });
  const { body } = await until(
    clusterInfo,
    (answer) => answer.body?.data?.["jws-kubeconfig-signer"] !== undefined,
    true,
  );
  const [header, between, signature] = body.data["jws-kubeconfig-signer"].split(".");
  assert.equal(between, "");
  const whole = `${header}.${Buffer.from(body.data.kubeconfig).toString("base64url")}.${signature}`;
  const { protectedHeader, payload } = await compactVerify(whole, Buffer.from("0123456789abcdef"));
  assert.deepEqual(
    [protectedHeader, Buffer.from(payload).toString()],
    [{ alg: "HS256", kid: "signer" }, "the cluster"],
  );
  assert.ok(
    body.metadata.managedFields.some(({ manager }: { manager: string }) => manager === "kube-controller-manager"),
  );
  await admin.send({ method: "DELETE", path: `${secrets}/bootstrap-token-signer` });
  await until(clusterInfo, (answer) => answer.body?.data?.["jws-kubeconfig-signer"] === undefined, true);
});

test("an expired token is rejected, and its secret and signature are deleted", async () => {
  const expiration = new Date(Date.now() + 1500).toISOString().replace(/\.\d+Z$/, "Z");
  await created(secrets, secret("brevis", { expiration }));
  await until(`${secrets}/bootstrap-token-brevis`, ({ status }) => status === 404);
  assert.equal((await whoIs("brevis.0123456789abcdef")).status, 401);
  await until(clusterInfo, (answer) => answer.body?.data?.["jws-kubeconfig-brevis"] === undefined);
});

test("kubectl authenticates with a bootstrap token", { skip: skipWithout("kubectl") }, async () => {
  const literals = ["token-id=kubect", "token-secret=0123456789abcdef", "usage-bootstrap-authentication=true"].map(
    (one) => `--from-literal=${one}`,
  );
  const make = [
    "-n",
    "kube-system",
    "create",
    "secret",
    "generic",
    "bootstrap-token-kubect",
    "--type=bootstrap.kubernetes.io/token",
    ...literals,
  ];
  const made = await runKubectl(kubectls().at(-1) as string, make, {
    directory,
    kubeconfigPath: server.kubeconfigPath,
  });
  assert.equal(made.code, 0, made.output);
  const ca = join(directory, "ca.crt");
  writeFileSync(ca, field(server.kubeconfig, "certificate-authority-data"));
  const config = join(directory, "empty.kubeconfig");
  writeFileSync(config, "");
  const args = [
    "--server",
    server.url,
    "--certificate-authority",
    ca,
    "--token",
    "kubect.0123456789abcdef",
    "auth",
    "whoami",
  ];
  const { output } = await runKubectl(kubectls().at(-1) as string, args, { directory, kubeconfigPath: config });
  assert.match(output, /Username\s+system:bootstrap:kubect/);
  assert.match(output, /Groups\s+\[system:bootstrappers system:authenticated\]/);
});

test("rejects bootstrap tokens when the authenticator is disabled", async () => {
  const plain = await startTestServer();
  const client = rawClient(plain.kubeconfig);
  assert.equal((await client.send({ method: "POST", path: secrets, body: secret("abcdef") })).status, 201);
  const headers = { authorization: `Bearer ${token}` };
  assert.equal((await client.send({ path: "/version", headers, anonymous: true })).status, 401);
  client.close();
  await plain.close();
});
