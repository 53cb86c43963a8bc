import assert from "node:assert/strict";
import { test } from "node:test";
import { etcdDefaults } from "../../storage/etcd/options.ts";
import { FlagError, type Settings } from "./contract.ts";
import { defaultOf, flagDefaults } from "./defaults.ts";
import { flagGroups } from "./flag-groups.ts";
import { parseFlags, termOf } from "./parse-flags.ts";

function settings(...argv: string[]): Settings {
  const line = parseFlags(argv);
  assert.ok(line.run === "server");
  return line.settings;
}

const allFlags = flagGroups.flatMap(([, flags]) => flags);
const defaults = settings();

const settingRows: [argv: string[], want: Partial<Settings["server"]>][] = [
  [[], {}],
  [["--secure-port=0"], { securePort: 0 }],
  [["--secure-port", "7443"], { securePort: 7443 }],
  [["--anonymous-auth"], { anonymousAuth: true }],
  [["--anonymous-auth=false"], { anonymousAuth: false }],
  [["--event-ttl", "90m"], { eventTtlSeconds: 5400 }],
  [["--history-bytes-max=1Gi"], { historyBytesMax: 2 ** 30 }],
  [["--history-window=1s"], { historyMs: 1000 }],
  [["--etcd-compaction-interval=10m"], { compactionIntervalMs: 600_000, historyMs: Number.POSITIVE_INFINITY }],
  [["--etcd-compaction-interval=0"], { compactionIntervalMs: 0, historyMs: Number.POSITIVE_INFINITY }],
  [["--history-window=1m", "--etcd-compaction-interval=10m"], { compactionIntervalMs: 600_000, historyMs: 60_000 }],
  [["--etcd-compaction-interval=10m", "--history-window=1m"], { compactionIntervalMs: 600_000, historyMs: 60_000 }],
  [["--feature-gates=A=true", "--feature-gates", "B=false"], { featureGates: "A=true,B=false" }],
  [["--controllers=*,-namespace-controller"], { controllers: ["*", "-namespace-controller"] }],
  [["--controllers="], { controllers: [] }],
  [
    ["--controllers=", "--controllers=namespace", "--controllers=-foo,bar"],
    { controllers: ["namespace", "-foo", "bar"] },
  ],
  [["--runtime-config=api/all=true"], { runtimeConfig: "api/all=true" }],
  [["--authorization-mode=AlwaysAllow,AlwaysDeny"], { authorizationModes: ["AlwaysAllow", "AlwaysDeny"] }],
  [
    ["--authorization-mode=AlwaysDeny", "--authorization-mode", "AlwaysAllow"],
    { authorizationModes: ["AlwaysDeny", "AlwaysAllow"] },
  ],
  [["--authorization-mode=", "--api-audiences="], { authorizationModes: [], apiAudiences: [] }],
  [["--authorization-mode=RBAC,"], { authorizationModes: ["RBAC", ""] }],
  [['--api-audiences=a,"b,c"', "--api-audiences=d"], { apiAudiences: ["a", "b,c", "d"] }],
  [["--bind-address=::", "--advertise-address=192.0.2.1"], { bindAddress: "::", advertiseAddress: "192.0.2.1" }],
  [["--watch-cache=false"], { watchCache: false }],
  [
    ["--watch-cache-sizes=nodes#100,deployments.apps#5", "--watch-cache-sizes=nodes#0"],
    {
      watchCacheSizes: new Map([
        ["nodes", 0],
        ["deployments.apps", 5],
      ]),
    },
  ],
  [["--min-request-timeout=0"], { minRequestTimeoutMs: 0 }],
  [["--min-request-timeout=60"], { minRequestTimeoutMs: 60_000 }],
  [["--enable-bootstrap-token-auth"], { bootstrapTokenAuth: true }],
  [["--client-ca-file=a", "--client-ca-file="], {}],
  [["--tls-cert-file=a", "--tls-private-key-file=b"], { tlsCertFile: "a", tlsPrivateKeyFile: "b" }],
  [["--tls-cert-file=", "--tls-private-key-file="], {}],
  [["--service-node-port-range=1-5", "--service-node-port-range="], {}],
  [["--token-auth-file=a", "--token-auth-file=", "--authorization-policy-file="], {}],
  [["--service-account-signing-key-file="], {}],
  [["--authentication-token-webhook-config-file="], {}],
  [
    [
      "--tls-min-version=VersionTLS13",
      "--tls-cipher-suites=A,B",
      "--tls-cipher-suites=C",
      "--tls-curve-preferences=29,23",
    ],
    { tls: { minVersion: "VersionTLS13", cipherSuites: ["A", "B", "C"], curvePreferences: [29, 23], named: [] } },
  ],
  [
    ["--tls-sni-cert-key=a.crt,a.key", "--tls-sni-cert-key", "b.crt , b.key: *.b.com, ::1"],
    {
      tls: {
        ...defaults.server.tls,
        named: [
          { certFile: "a.crt", keyFile: "a.key", names: [] },
          { certFile: "b.crt", keyFile: "b.key", names: ["*.b.com", "::1"] },
        ],
      },
    },
  ],
  [
    [
      "--requestheader-client-ca-file=a",
      '--requestheader-allowed-names=x,"y,z"',
      "--requestheader-username-headers=U",
      "--requestheader-uid-headers=I",
    ],
    {
      requestHeader: {
        ...defaults.server.requestHeader,
        clientCaFile: "a",
        allowedNames: ["x", "y,z"],
        usernameHeaders: ["U"],
        uidHeaders: ["I"],
      },
    },
  ],
  [
    [
      "--requestheader-group-headers=G",
      "--requestheader-group-headers=,H",
      "--requestheader-extra-headers-prefix=",
      "--requestheader-client-ca-file=",
    ],
    { requestHeader: { ...defaults.server.requestHeader, groupHeaders: ["G", "", "H"] } },
  ],
  [
    ["--leader-elect", "--leader-elect-lease-duration=30s", "--leader-elect-resource-name=a"],
    {
      leaderElection: {
        ...defaults.server.leaderElection,
        elect: true,
        leaseDurationMs: 30_000,
        resourceName: "a",
      },
    },
  ],
  [
    ["--endpoint-reconciler-type=none", "--kubernetes-service-node-port=30443"],
    { endpointReconciler: "none", kubernetesServiceNodePort: 30_443 },
  ],
  [["--endpoint-reconciler-type="], { endpointReconciler: "lease" }],
  [
    ["--peer-ca-file=ca", "--peer-advertise-ip=192.0.2.1", "--peer-advertise-port=6444"],
    { peerCaFile: "ca", peerAdvertiseIp: "192.0.2.1", peerAdvertisePort: 6444 },
  ],
  [["--peer-ca-file=ca", "--peer-ca-file=", "--peer-advertise-ip=", "--peer-advertise-port="], {}],
  [["--cert-dir=/c"], { certDir: "/c", dataDir: "/c/coxswain" }],
  [["--cert-dir=/c", "--data-dir=.coxswain"], { certDir: "/c" }],
  [
    ["--data-dir=/var/lib/x", "--storage=memory", "--durability=relaxed"],
    { dataDir: "/var/lib/x", storage: "memory", durability: "relaxed" },
  ],
  [["--etcd-count-metric-poll-period=0"], { objectCountPollMs: 0 }],
  [["--storage-initialization-timeout=90s"], { storageInitializationTimeoutMs: 90_000 }],
  [["--storage-media-type=application/yaml"], { storageMediaType: "application/yaml" }],
  [["--storage-media-type="], { storageMediaType: "application/json" }],
  [
    ["--emulated-version=1.34", "--emulated-version=kube=1.35,a", "--min-compatibility-version= kube = v1.35.0 "],
    { emulatedVersion: "1.34,kube=1.35,a", minCompatibilityVersion: " kube = v1.35.0 " },
  ],
  [["--emulated-version="], {}],
];
for (const [argv, want] of settingRows) {
  test(`flags: ${argv.join(" ")}`, () => assert.deepEqual(settings(...argv).server, { ...defaults.server, ...want }));
}

const rejectedRows: [argv: string[], message: string][] = [
  [["--secure-prot=1"], "unknown flag: --secure-prot (did you mean --secure-port?)"],
  [["--etcd-server=x"], "unknown flag: --etcd-server (did you mean --etcd-servers?)"],
  [
    ["--storage-backend=etcd2"],
    "--storage-backend invalid, allowed values: etcd3. If not specified, it will default to 'etcd3'",
  ],
  [
    ["--storage-media-type=application/cbor"],
    '--storage-media-type "application/cbor" invalid, allowed values: application/json, application/vnd.kubernetes.protobuf, application/yaml',
  ],
  [["--goaway-chance=0.03"], "--goaway-chance can not be less than 0 or greater than 0.02"],
  [["--max-requests-inflight=-1"], "--max-requests-inflight can not be negative value"],
  [
    ["--etcd-servers=http://a", "--etcd-certfile=b"],
    "error creating storage factory: KeyFile and CertFile must both be present[key: , cert: b]",
  ],
  [
    ["--etcd-servers-overrides=events#http://a"],
    "--etcd-servers-overrides invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated",
  ],
  [
    ["--endpoint-reconciler-type=some"],
    'invalid argument "some" for "--endpoint-reconciler-type" flag: Reconciler not implemented: some',
  ],
  [
    ["--peer-advertise-port=a"],
    'invalid argument "a" for "--peer-advertise-port" flag: strconv.ParseInt: parsing "a": invalid syntax',
  ],
  [
    ["--leader-elect-resource-lock=endpoints"],
    'invalid argument "endpoints" for "--leader-elect-resource-lock" flag: Invalid lock-type endpoints',
  ],
  [["--secure-port"], "flag needs an argument: --secure-port"],
  [["--secure-port=x"], 'invalid argument "x" for "--secure-port" flag: strconv.ParseInt: parsing "x": invalid syntax'],
  [["--secure-port=65536"], "--secure-port 65536 must be between 0 and 65535, inclusive"],
  [["--event-ttl=1"], 'invalid argument "1" for "--event-ttl" flag: time: missing unit in duration "1"'],
  [["--storage-initialization-timeout=-1s"], "--storage-initialization-timeout can not be negative value"],
  [["--request-timeout=-1s"], "--request-timeout can not be negative value"],
  [
    ["--anonymous-auth=maybe"],
    'invalid argument "maybe" for "--anonymous-auth" flag: strconv.ParseBool: parsing "maybe": invalid syntax',
  ],
  [
    ["--bind-address=localhost"],
    'invalid argument "localhost" for "--bind-address" flag: failed to parse IP: "localhost"',
  ],
  [
    ["--service-node-port-range=9-1"],
    'invalid argument "9-1" for "--service-node-port-range" flag: end port cannot be less than start port: 9-1',
  ],
  [["--service-cluster-ip-range=10.0.0.0"], "service-cluster-ip-range[0] is not a valid cidr"],
  [
    ["--history-bytes-max=0"],
    'invalid argument "0" for "--history-bytes-max" flag: must be a positive number of bytes',
  ],
  [["--watch-cache-sizes=nodes"], "invalid value of watch cache size: nodes"],
  [["--watch-cache-sizes=a#1,b#x"], "invalid size of watch cache size: b#x"],
  [["--watch-cache-sizes=a#-1"], "watch cache size cannot be negative: a#-1"],
  [
    ["--tls-sni-cert-key=a"],
    'invalid argument "a" for "--tls-sni-cert-key" flag: expected comma separated certificate and key file paths',
  ],
  [
    ["--tls-sni-cert-key=a,b:"],
    'invalid argument "a,b:" for "--tls-sni-cert-key" flag: empty names list is not allowed',
  ],
  [
    ["--tls-curve-preferences=x"],
    'invalid argument "x" for "--tls-curve-preferences" flag: strconv.ParseInt: parsing "x": invalid syntax',
  ],
  [["--storage=etcd2"], 'invalid argument "etcd2" for "--storage" flag: must be one of lmdb, memory, etcd'],
  [["--storage=etcd"], "--etcd-servers must be specified"],
  [["--virtual-clock"], "--virtual-clock needs --enable-test-control"],
  [["--tls-cert-file=a"], "missing filename for serving cert"],
  [["serve"], "unexpected arguments: only flags are accepted"],
  [["--profiling", "false"], "unexpected arguments: only flags are accepted"],
];
for (const [argv, message] of rejectedRows) {
  test(`flags: ${argv.join(" ")} is rejected`, () => assert.throws(() => parseFlags(argv), new FlagError(message)));
}

test("shows the actual defaults in --help", () => {
  for (const flag of allFlags) {
    const shown = defaultOf(flag);
    if (shown === undefined) continue;
    const { server, command } = settings(`--${flag.name}=${shown}`);
    assert.deepEqual({ server, command }, { server: defaults.server, command: defaults.command }, flag.name);
  }
});

test("reads the servers of etcd and of some resources", () => {
  const { server } = settings(
    "--etcd-servers=http://a,http://b",
    "--etcd-servers=http://c",
    "--etcd-servers-overrides=/events#http://d;http://e,coordination.k8s.io/leases#http://f",
    "--etcd-prefix=/other",
    "--etcd-cafile=a",
    "--etcd-cafile=",
    "--etcd-compaction-interval=1m",
    "--etcd-healthcheck-timeout=0",
    "--etcd-readycheck-timeout=0s",
  );
  assert.deepEqual(server.etcd, {
    ...etcdDefaults,
    servers: ["http://a", "http://b", "http://c"],
    overrides: [
      { group: "", resource: "events", servers: ["http://d", "http://e"] },
      { group: "coordination.k8s.io", resource: "leases", servers: ["http://f"] },
    ],
    prefix: "/other",
  });
  assert.equal(server.compactionIntervalMs, 60_000);
});

const deprecated = "--audit-webhook-batch-initial-backoff=20s";
const warningRows: [argv: string[], want: string[]][] = [
  [["--audit-webhook-initial-backoff=20s"], []],
  [
    [deprecated],
    [
      "Flag --audit-webhook-batch-initial-backoff has been deprecated, Deprecated, use --audit-webhook-initial-backoff instead.",
    ],
  ],
  [
    ["--default-watch-cache-size=5"],
    [
      "Flag --default-watch-cache-size has been deprecated, watch caches are sized automatically and this flag will be removed in a future version",
    ],
  ],
  [[deprecated, "--suppress-deprecation-warnings"], []],
  [["--etcd-servers=http://a"], []],
  [["--etcd-cafile="], []],
  [
    [
      "--storage=lmdb",
      "--etcd-servers=http://a",
      "--kubelet-timeout=1s",
      "--etcd-cafile=b",
      "--etcd-servers=c",
      "--profiling=false",
      "--allow-privileged",
      "-v=2",
    ],
    [
      "Ignored flags: --etcd-servers, --etcd-cafile: objects are stored in the embedded store, not in etcd; see --storage",
    ],
  ],
];
for (const [argv, want] of warningRows) {
  test(`flags: ${argv.join(" ")} gives ${want.length} warnings`, () =>
    assert.deepEqual(settings(...argv).warnings, want));
}

test("accepts the flags of kubeadm's manifest", () => {
  const pki = "/etc/kubernetes/pki";
  const { server, warnings } = settings(
    "--advertise-address=192.0.2.1",
    "--allow-privileged=true",
    "--authorization-mode=Node,RBAC",
    `--client-ca-file=${pki}/ca.crt`,
    "--enable-admission-plugins=NodeRestriction",
    "--enable-bootstrap-token-auth=true",
    `--etcd-cafile=${pki}/etcd/ca.crt`,
    `--etcd-certfile=${pki}/apiserver-etcd-client.crt`,
    `--etcd-keyfile=${pki}/apiserver-etcd-client.key`,
    "--etcd-servers=https://127.0.0.1:2379",
    `--kubelet-client-certificate=${pki}/apiserver-kubelet-client.crt`,
    `--kubelet-client-key=${pki}/apiserver-kubelet-client.key`,
    "--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname",
    `--proxy-client-cert-file=${pki}/front-proxy-client.crt`,
    `--proxy-client-key-file=${pki}/front-proxy-client.key`,
    "--requestheader-allowed-names=front-proxy-client",
    `--requestheader-client-ca-file=${pki}/front-proxy-ca.crt`,
    "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    "--requestheader-group-headers=X-Remote-Group",
    "--requestheader-username-headers=X-Remote-User",
    "--secure-port=6443",
    "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
    `--service-account-key-file=${pki}/sa.pub`,
    `--service-account-signing-key-file=${pki}/sa.key`,
    "--service-cluster-ip-range=10.96.0.0/12",
    `--tls-cert-file=${pki}/apiserver.crt`,
    `--tls-private-key-file=${pki}/apiserver.key`,
  );
  assert.deepEqual(
    [server.dataDir, server.serviceClusterIpRange, server.bootstrapTokenAuth, server.kubelet],
    [
      ".coxswain",
      "10.96.0.0/12",
      true,
      {
        ...defaults.server.kubelet,
        clientCertificateFile: `${pki}/apiserver-kubelet-client.crt`,
        clientKeyFile: `${pki}/apiserver-kubelet-client.key`,
        preferredAddressTypes: ["InternalIP", "ExternalIP", "Hostname"],
      },
    ],
  );
  assert.deepEqual(server.etcd, {
    ...etcdDefaults,
    servers: ["https://127.0.0.1:2379"],
    caFile: `${pki}/etcd/ca.crt`,
    certFile: `${pki}/apiserver-etcd-client.crt`,
    keyFile: `${pki}/apiserver-etcd-client.key`,
  });
  assert.deepEqual([server.storage, server.compactionIntervalMs, warnings], ["etcd", 300_000, []]);
});

test("a deprecated flag still has its effect, and of two flags for one option the last counts", () => {
  const flag = "--audit-webhook-initial-backoff";
  for (const [argv, want] of [
    [[deprecated], 20_000],
    [[`${flag}=1s`, deprecated], 20_000],
    [[`${flag}=1s`, deprecated, `${flag}=2s`], 2000],
  ] as const)
    assert.equal(settings(...argv).server.audit.webhook.initialBackoffMs, want);
});

test("--help lists every flag in its group, except deprecated and ignored ones", () => {
  const line = parseFlags(["--help"]);
  assert.ok(line.run === "print");
  for (const [group, flags] of flagGroups) {
    assert.equal(
      line.text.includes(`\n${group}:\n`),
      flags.some((flag) => !flag.hidden),
      group,
    );
    for (const flag of flags)
      assert.equal(line.text.includes(`${termOf(flag)} `), flag.deprecated === undefined && !flag.hidden, flag.name);
  }
});

test("accepts the listed values of flags, and no others", () => {
  const listed = allFlags.filter(({ type }) => type.choices !== undefined);
  const checkedLater = ["--tls-min-version"];
  assert.ok(listed.length > 5);
  for (const { name: word, type } of listed) {
    const name = `--${word}`;
    const { choices = [] } = type;
    const more = name === "--storage" ? ["--etcd-servers=http://a"] : [];
    for (const value of choices) assert.doesNotThrow(() => settings(`${name}=${value}`, ...more), `${name}=${value}`);
    if (!checkedLater.includes(name)) assert.throws(() => settings(`${name}=other`), FlagError, name);
  }
});

test("--version prints the version of the API", () => {
  const line = parseFlags(["--version"]);
  assert.ok(line.run === "print");
  assert.match(line.text, /^Coxswain v\d+\.\d+\.\d+ \(Kubernetes v1\.36\)\n$/);
});

/** Options that only programs set, which start a server in their process. */
const withoutFlag = ["proxiedAddresses.allowLoopback", "identityRenewMs"];

function pathsOf(options: object): string[] {
  return Object.entries(options).flatMap(([key, value]) =>
    Object.prototype.toString.call(value) === "[object Object]" && Object.keys(value).length > 0
      ? pathsOf(value).map((path) => `${key}.${path}`)
      : [key],
  );
}

test("every option with a default has a flag", () => {
  const set = new Set<string | undefined>(allFlags.map(({ option }) => option));
  const isSet = (path: string): boolean => [...set].some((option) => option === path || option?.startsWith(`${path}.`));
  assert.deepEqual(
    pathsOf(flagDefaults).filter((path) => !isSet(path)),
    withoutFlag,
  );
});

test("values of flags are shown as kube-apiserver shows them", () => {
  const { flags } = settings(
    "--authorization-mode=Node",
    "--authorization-mode=RBAC",
    "--event-ttl=90m",
    "--secure-port=0",
    "--etcd-servers=https://root:secret@127.0.0.1:2379,http://127.0.0.1:2380",
    "--feature-gates=A=true",
  );
  const shown = Object.fromEntries(
    ["authorization-mode", "event-ttl", "secure-port", "etcd-servers", "feature-gates", "api-audiences", "v"].map(
      (name) => [name, flags[name]],
    ),
  );
  assert.deepEqual(shown, {
    "authorization-mode": "[Node,RBAC]",
    "event-ttl": "1h30m0s",
    "secure-port": "0",
    "etcd-servers": "[https://REDACTED@127.0.0.1:2379,http://127.0.0.1:2380]",
    "feature-gates": "A=true",
    "api-audiences": "[]",
    v: "0",
  });
  assert.deepEqual(
    allFlags.filter(({ name }) => flags[name] === undefined),
    [],
  );
});
