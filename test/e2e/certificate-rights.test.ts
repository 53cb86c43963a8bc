/** Permissions to approve, sign and attest, which depend on the signer, over the wire. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { field } from "../support/kubeconfig-fields.ts";
import { loadX509 } from "../support/load-x509.ts";
import { type RawRequest, rawClient } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

const api = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
const bundles = "/apis/certificates.k8s.io/v1beta1/clustertrustbundles";
const rbac = "/apis/rbac.authorization.k8s.io/v1";

let request = "";
let authority = "";

const { server, client: admin } = await startServerWithClient({
  featureGates: "ClusterTrustBundle=true",
  runtimeConfig: "certificates.k8s.io/v1beta1=true",
});
const ann = rawClient((await server.as("ann")).kubeconfig);
after(() => ann.close());

before(async () => {
  const { Pkcs10CertificateRequestGenerator } = await loadX509();
  const signingAlgorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await crypto.subtle.generateKey(signingAlgorithm, true, ["sign", "verify"]);
  const made = await Pkcs10CertificateRequestGenerator.create({
    name: "O=system:masters,CN=eve",
    keys,
    signingAlgorithm,
  });
  request = Buffer.from(`${made.toString("pem")}\n`).toString("base64");
  authority = field(server.kubeconfig, "certificate-authority-data");
});

const post = (path: string, body: object): RawRequest => ({ method: "POST", path, body });
const patch = (path: string, body: object): RawRequest => ({
  method: "PATCH",
  path,
  body: Buffer.from(JSON.stringify(body)),
  headers: { "content-type": "application/merge-patch+json" },
});
const csr = (name: string, signerName: string): RawRequest =>
  post(api, { metadata: { name }, spec: { signerName, request, usages: ["client auth"] } });
const approve = (name: string): RawRequest =>
  patch(`${api}/${name}/approval`, {
    status: { conditions: [{ type: "Approved", status: "True", reason: "r", message: "m" }] },
  });
const bundle = (name: string, signerName: string): RawRequest =>
  post(bundles, { metadata: { name }, spec: { signerName, trustBundle: authority } });
const role = (name: string, rules: object[]): RawRequest => post(`${rbac}/clusterroles`, { metadata: { name }, rules });
const bind = (name: string): RawRequest =>
  post(`${rbac}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "ann" }],
  });
const all = {
  apiGroups: ["certificates.k8s.io"],
  resources: [
    "certificatesigningrequests",
    "certificatesigningrequests/*",
    "*/approval",
    "*/status",
    "clustertrustbundles",
  ],
  verbs: ["*"],
};
const signers = {
  apiGroups: ["certificates.k8s.io"],
  resources: ["signers"],
  resourceNames: ["example.com/*", "other.com/x"],
  verbs: ["approve", "sign", "attest"],
};
const requests = (name: string, why: string): string =>
  `certificatesigningrequests.certificates.k8s.io "${name}" is forbidden: ${why}`;

const steps: [what: string, who: "admin" | "ann", request: () => RawRequest, want: number | string][] = [
  ["a role allows ann all writes of certificate resources", "admin", () => role("writes", [all]), 201],
  ["the role is bound", "admin", () => bind("writes"), 201],
  [
    "rejects ann's request for a certificate of system:masters",
    "ann",
    () => csr("m", "kubernetes.io/kube-apiserver-client"),
    requests("m", "use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed"),
  ],
  ["accepts her request to another signer", "ann", () => csr("a", "example.com/a"), 201],
  ["accepts her request to a third signer", "ann", () => csr("b", "third.com/b"), 201],
  [
    "rejects an approval without permission for the signer",
    "ann",
    () => approve("a"),
    requests("a", 'user not permitted to approve requests with signerName "example.com/a"'),
  ],
  [
    "rejects a signature without permission for the signer",
    "ann",
    () => patch(`${api}/a/status`, { status: { certificate: Buffer.from(authority).toString("base64") } }),
    requests("a", 'user not permitted to sign requests with signerName "example.com/a"'),
  ],
  [
    "rejects a bundle without permission to attest",
    "ann",
    () => bundle("example.com:a:x", "example.com/a"),
    'clustertrustbundles.certificates.k8s.io "example.com:a:x" is forbidden: user not permitted to attest for signerName "example.com/a"',
  ],
  ["a role allows ann to approve, sign and attest for some signers", "admin", () => role("signs", [signers]), 201],
  ["the role is bound", "admin", () => bind("signs"), 201],
  ["accepts an approval with permission for the signer", "ann", () => approve("a"), 200],
  [
    "rejects an approval for another signer",
    "ann",
    () => approve("b"),
    requests("b", 'user not permitted to approve requests with signerName "third.com/b"'),
  ],
  ["accepts a bundle with permission to attest", "ann", () => bundle("example.com:a:x", "example.com/a"), 201],
  ["an administrator creates a bundle of the third signer", "admin", () => bundle("third.com:b:x", "third.com/b"), 201],
  [
    "accepts changed finalizers of that bundle",
    "ann",
    () => patch(`${bundles}/third.com:b:x`, { metadata: { finalizers: ["example.com/f"] } }),
    200,
  ],
  [
    "rejects changed labels of that bundle",
    "ann",
    () => patch(`${bundles}/third.com:b:x`, { metadata: { labels: { a: "b" } } }),
    'clustertrustbundles.certificates.k8s.io "third.com:b:x" is forbidden: user not permitted to attest for signerName "third.com/b"',
  ],
];

test("approving, signing and attesting require permission for the signer", async (context) => {
  for (const [what, who, make, want] of steps) {
    await context.test(what, async () => {
      const { status, body, text } = await (who === "admin" ? admin : ann).send(make());
      if (typeof want === "number") assert.equal(status, want, text);
      else assert.deepEqual([status, body.message], [403, want]);
    });
  }
});
