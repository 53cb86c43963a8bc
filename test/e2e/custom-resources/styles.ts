/**
 * Ten small definitions in the style of well-known projects, each with valid and invalid objects.
 * Upstream's answers are among those to the scenarios.
 */

export interface Style {
  /** The project with this style of definitions. */
  readonly like: string;
  readonly plural: string;
  readonly kind: string;
  readonly group: string;
  readonly scope?: "Cluster";
  /** Members of the version in addition to its schema. */
  readonly version?: object;
  readonly schema: object;
  /** Valid objects, without kind and name. */
  readonly good: readonly object[];
  readonly bad: readonly object[];
}

const text = { type: "string" };
const integer = { type: "integer" };
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const list = (items: object, more: object = {}) => ({ type: "array", items, ...more });
const named = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] };
const conditions = list(
  object(
    {
      type: { ...text, maxLength: 316, pattern: "^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$" },
      status: { ...text, enum: ["True", "False", "Unknown"] },
      observedGeneration: { ...integer, format: "int64", minimum: 0 },
      lastTransitionTime: { ...text, format: "date-time" },
      reason: { ...text, minLength: 1, maxLength: 1024 },
      message: { ...text, maxLength: 32768 },
    },
    { required: ["type", "status", "lastTransitionTime", "reason", "message"] },
  ),
  { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"], maxItems: 8 },
);

export const styles: readonly Style[] = [
  {
    like: "gateway-api: limits everywhere, rules about lists, defaults in items",
    plural: "httproutes",
    kind: "HTTPRoute",
    group: "gateway.example.com",
    version: {
      subresources: { status: {} },
      additionalPrinterColumns: [{ name: "Hostnames", type: "string", jsonPath: ".spec.hostnames" }],
    },
    schema: object(
      {
        spec: object({
          hostnames: list(
            {
              ...text,
              minLength: 1,
              maxLength: 253,
              pattern: "^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
            },
            { maxItems: 16 },
          ),
          parentRefs: list(
            object(
              {
                group: { ...text, default: "gateway.example.com", maxLength: 253 },
                kind: { ...text, default: "Gateway", maxLength: 63 },
                name: { ...text, minLength: 1, maxLength: 253 },
                port: { ...integer, minimum: 1, maximum: 65535 },
                sectionName: { ...text, maxLength: 253 },
              },
              { required: ["name"] },
            ),
            {
              maxItems: 32,
              "x-kubernetes-validations": [
                {
                  rule: "self.all(p1, self.exists_one(p2, p1.group == p2.group && p1.kind == p2.kind && p1.name.size() == p2.name.size()))",
                  message: "parents must differ",
                },
              ],
            },
          ),
          rules: list(
            object({
              matches: list(
                object({
                  path: object(
                    {
                      type: { ...text, enum: ["Exact", "PathPrefix"], default: "PathPrefix" },
                      value: { ...text, default: "/", maxLength: 1024 },
                    },
                    {
                      default: { type: "PathPrefix", value: "/" },
                      "x-kubernetes-validations": [
                        { rule: "self.value.startsWith('/')", message: "value must start with '/'" },
                      ],
                    },
                  ),
                }),
                {
                  default: [{ path: { type: "PathPrefix", value: "/" } }],
                  maxItems: 8,
                },
              ),
              weight: { ...integer, format: "int32", default: 1, minimum: 0, maximum: 1000000 },
            }),
            { maxItems: 16, default: [{ matches: [{ path: { type: "PathPrefix", value: "/" } }] }] },
          ),
        }),
        status: object({ conditions }),
      },
      { required: ["spec"] },
    ),
    good: [
      { spec: {} },
      {
        spec: {
          hostnames: ["*.example.com"],
          parentRefs: [{ name: "a" }],
          rules: [{}, { matches: [{ path: { value: "/x" } }, {}] }],
        },
      },
    ],
    bad: [
      {},
      { spec: { hostnames: ["*"], rules: [{ matches: [{ path: { value: "x" } }], weight: -1 }] } },
      { spec: { parentRefs: [{ name: "ab" }, { name: "cd" }] } },
      { spec: { parentRefs: [{ port: 0 }] } },
    ],
  },
  {
    like: "cert-manager: deep optional objects with required fields at every level",
    plural: "certificates",
    kind: "Certificate",
    group: "cert.example.com",
    version: { subresources: { status: {} }, selectableFields: [{ jsonPath: ".spec.issuerRef.name" }] },
    schema: object({
      spec: object(
        {
          secretName: text,
          dnsNames: list(text),
          duration: text,
          issuerRef: object({ name: text, kind: text, group: text }, { required: ["name"] }),
          privateKey: object({
            algorithm: { ...text, enum: ["RSA", "ECDSA", "Ed25519"] },
            size: integer,
            rotationPolicy: { ...text, enum: ["Never", "Always"] },
          }),
          usages: list({ ...text, enum: ["signing", "server auth", "client auth"] }),
          keystores: object({
            jks: object(
              {
                create: { type: "boolean" },
                passwordSecretRef: object({ key: text, name: text }, { required: ["name"] }),
              },
              { required: ["create", "passwordSecretRef"] },
            ),
          }),
        },
        { required: ["issuerRef", "secretName"] },
      ),
    }),
    good: [{ spec: { secretName: "s", issuerRef: { name: "i" }, dnsNames: ["a"], usages: ["server auth"] } }],
    bad: [
      { spec: { secretName: 1, issuerRef: {} } },
      { spec: { secretName: "s", issuerRef: { name: "i" }, usages: ["any"], keystores: { jks: { create: "yes" } } } },
    ],
  },
  {
    like: "prometheus-operator: quantities and ports that are int-or-string, unknown limits",
    plural: "prometheuses",
    kind: "Prometheus",
    group: "monitoring.example.com",
    version: {
      subresources: {
        status: {},
        scale: {
          specReplicasPath: ".spec.shards",
          statusReplicasPath: ".status.shards",
          labelSelectorPath: ".status.selector",
        },
      },
    },
    schema: object(
      {
        spec: object({
          shards: { ...integer, format: "int32" },
          retention: { ...text, pattern: "^(0|(([0-9]+)y)?(([0-9]+)d)?(([0-9]+)h)?)$" },
          resources: object({
            limits: {
              type: "object",
              additionalProperties: {
                anyOf: [{ type: "integer" }, { type: "string" }],
                pattern: "^[0-9]+(m|Mi|Gi)?$",
                "x-kubernetes-int-or-string": true,
              },
            },
          }),
          targetPort: { anyOf: [{ type: "integer" }, { type: "string" }], "x-kubernetes-int-or-string": true },
          enableFeatures: list({ ...text, minLength: 1 }, { "x-kubernetes-list-type": "set" }),
          externalLabels: { type: "object", additionalProperties: text },
        }),
      },
      { required: ["spec"] },
    ),
    good: [
      {
        spec: {
          shards: 2,
          retention: "10d",
          resources: { limits: { cpu: 2, memory: "1Gi" } },
          targetPort: "web",
          enableFeatures: ["a", "b"],
        },
      },
    ],
    bad: [
      { spec: { retention: "ten" } },
      { spec: { resources: { limits: { cpu: "1.5x", memory: true } } } },
      { spec: { targetPort: 1.5 } },
      { spec: { enableFeatures: ["a", "a", ""] } },
      { spec: { externalLabels: { a: 1 } } },
    ],
  },
  {
    like: "argo: templates that preserve unknown fields",
    plural: "workflows",
    kind: "Workflow",
    group: "argo.example.com",
    version: {
      additionalPrinterColumns: [
        { name: "Status", type: "string", jsonPath: ".status.phase" },
        { name: "Age", type: "date", jsonPath: ".status.startedAt", format: "date-time" },
      ],
    },
    schema: object(
      {
        spec: { type: "object", "x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-map-type": "atomic" },
        status: { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: { phase: text } },
      },
      { required: ["metadata", "spec"] },
    ),
    good: [
      {
        spec: { entrypoint: "a", templates: [{ any: { thing: [1, "2", null] } }] },
        status: { phase: "Running", more: 1 },
      },
    ],
    bad: [{}, { spec: [] }, { spec: {}, status: { phase: 1 } }],
  },
  {
    like: "istio: oneOf by required fields",
    plural: "destinationrules",
    kind: "DestinationRule",
    group: "mesh.example.com",
    schema: object({
      spec: object(
        {
          host: text,
          trafficPolicy: object({
            loadBalancer: object(
              {
                simple: { ...text, enum: ["ROUND_ROBIN", "LEAST_CONN"] },
                consistentHash: object(
                  { httpHeaderName: text, useSourceIp: { type: "boolean" } },
                  {
                    allOf: [
                      {
                        oneOf: [
                          { not: { anyOf: [{ required: ["httpHeaderName"] }, { required: ["useSourceIp"] }] } },
                          { required: ["httpHeaderName"] },
                          { required: ["useSourceIp"] },
                        ],
                      },
                    ],
                  },
                ),
              },
              {
                oneOf: [
                  { not: { anyOf: [{ required: ["simple"] }, { required: ["consistentHash"] }] } },
                  { required: ["simple"] },
                  { required: ["consistentHash"] },
                ],
              },
            ),
            connectTimeout: {
              ...text,
              "x-kubernetes-validations": [
                { rule: "duration(self) >= duration('1ms')", message: "must be a valid duration greater than 1ms" },
              ],
            },
          }),
        },
        { required: ["host"] },
      ),
    }),
    good: [
      { spec: { host: "a", trafficPolicy: { loadBalancer: { simple: "LEAST_CONN" }, connectTimeout: "1s" } } },
      { spec: { host: "a", trafficPolicy: { loadBalancer: { consistentHash: { useSourceIp: true } } } } },
    ],
    bad: [
      { spec: { host: "a", trafficPolicy: { loadBalancer: { simple: "LEAST_CONN", consistentHash: {} } } } },
      {
        spec: {
          host: "a",
          trafficPolicy: { loadBalancer: { consistentHash: { useSourceIp: true, httpHeaderName: "x" } } },
        },
      },
      { spec: { host: "a", trafficPolicy: { connectTimeout: "1us" } } },
      { spec: { host: "a", trafficPolicy: { connectTimeout: "soon" } } },
    ],
  },
  {
    like: "cluster-api: references to any object, immutable fields",
    plural: "clusters",
    kind: "Cluster",
    group: "cluster.example.com",
    version: { subresources: { status: {} } },
    schema: object({
      spec: object({
        infrastructureRef: object(
          { apiVersion: text, kind: text, name: text, namespace: text },
          { "x-kubernetes-map-type": "atomic" },
        ),
        topology: object(
          {
            class: { ...text, minLength: 1 },
            version: text,
            variables: list(
              object(
                { name: text, value: { "x-kubernetes-preserve-unknown-fields": true } },
                { required: ["name", "value"] },
              ),
              named,
            ),
          },
          {
            required: ["class", "version"],
            "x-kubernetes-validations": [
              { rule: "!has(oldSelf.version) || self.version != 'v0'", message: "no way back" },
            ],
          },
        ),
        paused: { type: "boolean", default: false },
      }),
      status: object({ conditions, phase: text }),
    }),
    good: [
      {
        spec: {
          infrastructureRef: { kind: "X" },
          topology: {
            class: "c",
            version: "v1",
            variables: [
              { name: "a", value: { any: [1] } },
              { name: "b", value: 1 },
            ],
          },
        },
      },
    ],
    bad: [
      { spec: { topology: { class: "", variables: [{ name: "a" }, { name: "a", value: 1 }] } } },
      { spec: { paused: "no" } },
    ],
  },
  {
    like: "crossplane: embedded objects, a cluster-scoped definition",
    plural: "compositions",
    kind: "Composition",
    group: "cross.example.com",
    scope: "Cluster",
    schema: object({
      spec: object(
        {
          mode: { ...text, default: "Pipeline", enum: ["Pipeline"] },
          pipeline: list(
            object(
              {
                step: text,
                functionRef: object({ name: text }, { required: ["name"] }),
                input: {
                  type: "object",
                  "x-kubernetes-embedded-resource": true,
                  "x-kubernetes-preserve-unknown-fields": true,
                },
              },
              { required: ["step", "functionRef"] },
            ),
            {
              maxItems: 99,
              minItems: 1,
              "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["step"],
            },
          ),
        },
        {
          "x-kubernetes-validations": [
            {
              rule: "self.mode == 'Pipeline' && has(self.pipeline)",
              message: "an array of pipeline steps is required in Pipeline mode",
            },
          ],
        },
      ),
    }),
    good: [
      {
        spec: {
          pipeline: [
            {
              step: "a",
              functionRef: { name: "f" },
              input: { apiVersion: "x/v1", kind: "Input", metadata: { labels: { a: "b" } }, free: 1 },
            },
          ],
        },
      },
    ],
    bad: [
      { spec: {} },
      { spec: { pipeline: [] } },
      {
        spec: {
          pipeline: [
            { step: "a", functionRef: { name: "f" }, input: { kind: "Input" } },
            { step: "a", functionRef: {} },
          ],
        },
      },
      {
        spec: {
          mode: "Resources",
          pipeline: [
            {
              step: "a",
              functionRef: { name: "f" },
              input: { apiVersion: "v1", kind: "a b", metadata: { name: "A" } },
            },
          ],
        },
      },
    ],
  },
  {
    like: "knative: percentages, numbers of containers, numbers with limits",
    plural: "services",
    kind: "Service",
    group: "serving.example.com",
    version: { subresources: { status: {} } },
    schema: object({
      spec: object({
        template: object({
          spec: object(
            {
              containerConcurrency: { ...integer, format: "int64", minimum: 0 },
              timeoutSeconds: { ...integer, format: "int64" },
              containers: list(
                object({ image: text, env: list(object({ name: text, value: text }, { required: ["name"] }), named) }),
              ),
            },
            { required: ["containers"] },
          ),
        }),
        traffic: list(
          object({
            percent: { ...integer, format: "int64", minimum: 0, maximum: 100 },
            tag: text,
            latestRevision: { type: "boolean" },
          }),
        ),
      }),
    }),
    good: [
      {
        spec: {
          template: { spec: { containers: [{ image: "x", env: [{ name: "A" }] }] } },
          traffic: [{ percent: 100, latestRevision: true }],
        },
      },
    ],
    bad: [
      { spec: { template: { spec: { containerConcurrency: -1 } } } },
      { spec: { traffic: [{ percent: 101 }, { percent: 1.5 }, { latestRevision: 1 }] } },
      { spec: { template: { spec: { containers: [{ env: [{ name: "A" }, { name: "A" }] }] } } } },
    ],
  },
  {
    like: "tekton: a schema with few declarations",
    plural: "pipelines",
    kind: "Pipeline",
    group: "tekton.example.com",
    version: { subresources: { status: {} } },
    schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    good: [{ spec: { tasks: [{ name: "a" }] }, anything: { goes: true } }, { spec: null }],
    bad: [],
  },
  {
    like: "kueue: queues that refer to each other, sums and sets",
    plural: "clusterqueues",
    kind: "ClusterQueue",
    group: "kueue.example.com",
    scope: "Cluster",
    version: { subresources: { status: {} } },
    schema: object({
      spec: object(
        {
          cohort: { ...text, maxLength: 253, pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$" },
          preemption: object(
            {
              reclaimWithinCohort: { ...text, default: "Never", enum: ["Never", "LowerPriority", "Any"] },
              borrowWithinCohort: object({ policy: { ...text, enum: ["Never", "LowerPriority"] } }),
            },
            {
              default: {},
              "x-kubernetes-validations": [
                {
                  rule: "!(self.reclaimWithinCohort == 'Never' && has(self.borrowWithinCohort) && self.borrowWithinCohort.policy != 'Never')",
                  message: "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never",
                },
              ],
            },
          ),
          resourceGroups: list(
            object(
              {
                coveredResources: list({ ...text, maxLength: 50 }, { minItems: 1, maxItems: 16 }),
                flavors: list(object({ name: text }, { required: ["name"] }), { ...named, minItems: 1, maxItems: 16 }),
              },
              { required: ["coveredResources", "flavors"] },
            ),
            {
              maxItems: 16,
              "x-kubernetes-list-type": "atomic",
            },
          ),
        },
        {
          "x-kubernetes-validations": [
            {
              rule: "!has(self.cohort) || self.cohort != 'none'",
              messageExpression: "'cohort ' + self.cohort + ' is reserved'",
              reason: "FieldValueForbidden",
              fieldPath: ".cohort",
            },
          ],
        },
      ),
    }),
    good: [
      { spec: {} },
      { spec: { cohort: "a", resourceGroups: [{ coveredResources: ["cpu"], flavors: [{ name: "f" }] }] } },
    ],
    bad: [
      { spec: { cohort: "none", preemption: { borrowWithinCohort: { policy: "LowerPriority" } } } },
      { spec: { cohort: "A", resourceGroups: [{ coveredResources: [], flavors: [{ name: "f" }, { name: "f" }] }] } },
    ],
  },
];
