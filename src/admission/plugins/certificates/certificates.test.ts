import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type MemoryRegistry, openMemoryRegistry } from "../../../../test/support/memory-registry.ts";
import { ApiError } from "../../../apimachinery/errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Authorizer } from "../../../authorization/contract.ts";
import { loadX509 } from "../../../lib/load-x509.ts";
import type { AdmissionAttributes } from "../../contract.ts";
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

/** `verb signer` of all that is allowed. */
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

async function refusalOf({ request, object, old, off }: Write): Promise<string | undefined> {
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
  const common = { target, subresource, namespace: "", name: "r", user, dryRun: false, warnings: [], undo: [] };
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

/** Of a kind that is switched off. */
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
const refused = (why: string): string => `certificatesigningrequests.certificates.k8s.io "r" is forbidden: ${why}`;
const bundle = (signerName: string | undefined, metadata: object = {}, more: object = {}): object => ({
  metadata: { name: "r", ...metadata },
  spec: { ...(signerName !== undefined && { signerName }), trustBundle: "x", ...more },
});
const attest = (why: string): string =>
  `clustertrustbundles.certificates.k8s.io "r" is forbidden: user not permitted to attest for signerName "${why}"`;

/** The rows make their own objects when they run: requests are made before. */
const rows: [what: string, write: () => Write, refusal?: string][] = [
  ["approves for a signer", () => approve("example.com/a")],
  ["approves for a signer of a domain", () => approve("wild.com/b")],
  [
    "approves for another",
    () => approve("example.com/b"),
    refused('user not permitted to approve requests with signerName "example.com/b"'),
  ],
  [
    "approves for a domain like it",
    () => approve("example.com.evil/a"),
    refused('user not permitted to approve requests with signerName "example.com.evil/a"'),
  ],
  ["approves for a signer without a domain", () => approve("x")],
  ["approves for nobody", () => approve(""), refused('user not permitted to approve requests with signerName ""')],
  ["signs for a signer", () => sign("example.com/a", { certificate: "AA==" })],
  [
    "signs for another",
    () => sign("example.com/b", { certificate: "AA==" }),
    refused('user not permitted to sign requests with signerName "example.com/b"'),
  ],
  [
    "says that another failed",
    () => sign("example.com/b", { conditions: [{ type: "Failed", status: "True" }] }),
    refused('user not permitted to sign requests with signerName "example.com/b"'),
  ],
  [
    "changes nothing of another",
    () => sign("example.com/b", { certificate: "AA==", conditions: [] }, { certificate: "AA==" }),
  ],
  [
    "takes a certificate away",
    () => sign("example.com/b", {}, { certificate: "AA==" }),
    refused('user not permitted to sign requests with signerName "example.com/b"'),
  ],
  [
    "asks as somebody",
    () => ({ request: "CREATE certificatesigningrequests", object: csr("kubernetes.io/kube-apiserver-client") }),
  ],
  [
    "asks as a master",
    () => ({
      request: "CREATE certificatesigningrequests",
      object: csr("kubernetes.io/kube-apiserver-client", {}, "O=dev,O=system:masters,CN=ann"),
    }),
    refused("use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed"),
  ],
  [
    "asks another signer as a master",
    () => ({
      request: "CREATE certificatesigningrequests",
      object: csr("example.com/a", {}, "O=dev,O=system:masters,CN=ann"),
    }),
  ],
  [
    "asks with what nobody can read",
    () => ({
      request: "CREATE certificatesigningrequests",
      object: csr("kubernetes.io/kube-apiserver-client", {}, "?"),
    }),
    refused("failed to parse CSR: PEM block type must be CERTIFICATE REQUEST"),
  ],
  ["deletes a request", () => ({ request: "DELETE certificatesigningrequests", old: csr("example.com/b") })],
  ["attests for a signer", () => ({ request: "CREATE clustertrustbundles", object: bundle("example.com/a") })],
  [
    "attests for another",
    () => ({ request: "CREATE clustertrustbundles", object: bundle("example.com/b") }),
    attest("example.com/b"),
  ],
  [
    "attests for another while nobody looks",
    () => ({ request: "CREATE clustertrustbundles", object: bundle("example.com/b"), off: true }),
  ],
  ["attests for nobody", () => ({ request: "CREATE clustertrustbundles", object: bundle(undefined) })],
  [
    "changes a bundle of another",
    () => ({
      request: "UPDATE clustertrustbundles",
      object: bundle("example.com/b", {}, { trustBundle: "y" }),
      old: bundle("example.com/b"),
    }),
    attest("example.com/b"),
  ],
  ["deletes a bundle of another", () => ({ request: "DELETE clustertrustbundles", old: bundle("example.com/b") })],
];

for (const [what, write, refusal] of rows) {
  test(`who ${what} ${refusal === undefined ? "may" : "may not"}`, async () =>
    assert.equal(await refusalOf(write()), refusal));
}
