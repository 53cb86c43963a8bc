import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { loadX509 } from "../../../../test/support/load-x509.ts";
import { type MemoryRegistry, openMemoryRegistry } from "../../../../test/support/memory-registry.ts";
import { ApiError } from "../../../apimachinery/errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Authorizer } from "../../../authorization/contract.ts";
import type { AdmissionAttributes } from "../../../registry/admission-attributes.ts";
import { certificatePlugins } from "./certificates.ts";

let cluster: MemoryRegistry;
const requests = new Map<string, string>();

before(async () => {
  cluster = await openMemoryRegistry();
  for (const subject of ["O=dev,CN=ann", "O=dev,O=system:masters,CN=ann"]) requests.set(subject, await pemOf(subject));
});
after(() => cluster.close());

/** @returns base64 of PEM */
async function pemOf(name: string): Promise<string> {
  const { Pkcs10CertificateRequestGenerator } = await loadX509();
  const signingAlgorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await crypto.subtle.generateKey(signingAlgorithm, true, ["sign", "verify"]);
  return Buffer.from(
    (await Pkcs10CertificateRequestGenerator.create({ name, keys, signingAlgorithm })).toString("pem"),
  ).toString("base64");
}

/** The permissions of ann, as `verb signer`. */
const rights = [
  "approve example.com/a",
  "sign example.com/a",
  "attest example.com/a",
  "approve wild.com/*",
  "approve x/*",
];
const authorize: Authorizer = ({ user, verb, group, version, resource, name }) => {
  const isRight =
    user.name === "ann" &&
    `${group}/${version} ${resource}` === "certificates.k8s.io/* signers" &&
    rights.includes(`${verb} ${name}`);
  return { decision: isRight ? "allow" : "noOpinion", reason: "" };
};

interface Write {
  /** `UPDATE resource/subresource` */
  readonly request: string;
  readonly object?: object;
  readonly old?: object;
  readonly off?: true;
}

async function rejectionOf({ request, object, old, off }: Write): Promise<string | undefined> {
  const [operation = "", what = ""] = request.split(" ");
  const [resource = "", subresource = ""] = what.split("/");
  const { catalog } = cluster.registry;
  const definition = catalog
    .definitions()
    .find((each) => each.group === "certificates.k8s.io" && each.resource === resource);
  const target =
    catalog.find("certificates.k8s.io", definition?.storage?.version ?? "", resource) ?? unserved(definition);
  const whole = (each: object | undefined): KubeObject | undefined =>
    each && ({ metadata: { name: "r" }, ...each } as KubeObject);
  const user = { name: "ann", uid: "", groups: [], extra: new Map() };
  const common = {
    target,
    subresource,
    namespace: "",
    name: "r",
    user,
    dryRun: false,
    warnings: [],
    undo: [],
    done: [],
    joint: [],
  };
  const attributes = {
    ...common,
    operation,
    object: whole(object),
    oldObject: whole(old),
  } as unknown as AdmissionAttributes;
  try {
    for (const plugin of certificatePlugins({ authorize, enabled: () => off === undefined }))
      await plugin.validate?.(attributes);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    return error.message;
  }
}

/** The target of a write to a kind that is disabled. */
const unserved = (definition: object | undefined): object => ({ resource: { definition, store: undefined } });

const csr = (signerName: string, status: object = {}, subject = "O=dev,CN=ann"): object => ({
  spec: { signerName, request: requests.get(subject) ?? "" },
  status,
});
const approve = (signerName: string): Write => ({
  request: "UPDATE certificatesigningrequests/approval",
  object: csr("example.com/a", { conditions: [{ type: "Approved", status: "True" }] }),
  old: csr(signerName),
});
const sign = (signerName: string, next: object, old: object = {}): Write => ({
  request: "UPDATE certificatesigningrequests/status",
  object: csr("example.com/a", next),
  old: csr(signerName, old),
});
const csrForbidden = (why: string): string => `certificatesigningrequests.certificates.k8s.io "r" is forbidden: ${why}`;
const bundle = (signerName: string | undefined, metadata: object = {}, more: object = {}): object => ({
  metadata: { name: "r", ...metadata },
  spec: { ...(signerName !== undefined && { signerName }), trustBundle: "x", ...more },
});
const attestForbidden = (signerName: string): string =>
  `clustertrustbundles.certificates.k8s.io "r" is forbidden: user not permitted to attest for signerName "${signerName}"`;

/** `write` runs in the test, because `before` creates the certificate requests. */
const rows: [what: string, write: () => Write, rejection?: string][] = [
  ["approve for a signer", () => approve("example.com/a")],
  ["approve for a signer of an allowed domain", () => approve("wild.com/b")],
  [
    "approve for another signer",
    () => approve("example.com/b"),
    csrForbidden('user not permitted to approve requests with signerName "example.com/b"'),
  ],
  [
    "approve for a domain that starts with an allowed one",
    () => approve("example.com.evil/a"),
    csrForbidden('user not permitted to approve requests with signerName "example.com.evil/a"'),
  ],
  ["approve for a signer without a domain", () => approve("x")],
  [
    "approve without a signer",
    () => approve(""),
    csrForbidden('user not permitted to approve requests with signerName ""'),
  ],
  ["sign for a signer", () => sign("example.com/a", { certificate: "AA==" })],
  [
    "sign for another signer",
    () => sign("example.com/b", { certificate: "AA==" }),
    csrForbidden('user not permitted to sign requests with signerName "example.com/b"'),
  ],
  [
    "mark a request of another signer as failed",
    () => sign("example.com/b", { conditions: [{ type: "Failed", status: "True" }] }),
    csrForbidden('user not permitted to sign requests with signerName "example.com/b"'),
  ],
  [
    "update the status of another signer's request without changes",
    () => sign("example.com/b", { certificate: "AA==", conditions: [] }, { certificate: "AA==" }),
  ],
  [
    "remove a certificate of another signer",
    () => sign("example.com/b", {}, { certificate: "AA==" }),
    csrForbidden('user not permitted to sign requests with signerName "example.com/b"'),
  ],
  [
    "request a client certificate",
    () => ({ request: "CREATE certificatesigningrequests", object: csr("kubernetes.io/kube-apiserver-client") }),
  ],
  [
    "request a client certificate of system:masters",
    () => ({
      request: "CREATE certificatesigningrequests",
      object: csr("kubernetes.io/kube-apiserver-client", {}, "O=dev,O=system:masters,CN=ann"),
    }),
    csrForbidden("use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed"),
  ],
  [
    "request a certificate of system:masters from another signer",
    () => ({
      request: "CREATE certificatesigningrequests",
      object: csr("example.com/a", {}, "O=dev,O=system:masters,CN=ann"),
    }),
  ],
  [
    "request a client certificate with invalid PEM",
    () => ({
      request: "CREATE certificatesigningrequests",
      object: csr("kubernetes.io/kube-apiserver-client", {}, "?"),
    }),
    csrForbidden("failed to parse CSR: PEM block type must be CERTIFICATE REQUEST"),
  ],
  [
    "delete a request of another signer",
    () => ({ request: "DELETE certificatesigningrequests", old: csr("example.com/b") }),
  ],
  ["attest for a signer", () => ({ request: "CREATE clustertrustbundles", object: bundle("example.com/a") })],
  [
    "attest for another signer",
    () => ({ request: "CREATE clustertrustbundles", object: bundle("example.com/b") }),
    attestForbidden("example.com/b"),
  ],
  [
    "attest for another signer while the feature gate is off",
    () => ({ request: "CREATE clustertrustbundles", object: bundle("example.com/b"), off: true }),
  ],
  ["attest without a signer", () => ({ request: "CREATE clustertrustbundles", object: bundle(undefined) })],
  [
    "change a bundle of another signer",
    () => ({
      request: "UPDATE clustertrustbundles",
      object: bundle("example.com/b", {}, { trustBundle: "y" }),
      old: bundle("example.com/b"),
    }),
    attestForbidden("example.com/b"),
  ],
  [
    "delete a bundle of another signer",
    () => ({ request: "DELETE clustertrustbundles", old: bundle("example.com/b") }),
  ],
];

for (const [what, write, rejection] of rows) {
  test(`ann ${rejection === undefined ? "can" : "cannot"} ${what}`, async () =>
    assert.equal(await rejectionOf(write()), rejection));
}
