/** How long client certificates are still good for. Source: apiserver's request/x509. */
import type { Clock } from "../apimachinery/clock.ts";
import type { PeerCertificate } from "../http/contract.ts";
import type { Metric } from "./exposition.ts";
import { Histogram } from "./histogram.ts";

const hour = 3600;
const day = 24 * hour;
const bounds = [
  0,
  hour / 2,
  hour,
  2 * hour,
  6 * hour,
  12 * hour,
  day,
  2 * day,
  4 * day,
  7 * day,
  30 * day,
  90 * day,
  180 * day,
  360 * day,
];

export interface CertificateMetrics {
  /** Of each request with one. */
  observe(certificate: PeerCertificate): void;
  collect(): Metric[];
}

export function certificateMetrics(clock: Clock): CertificateMetrics {
  const remaining = new Histogram(bounds);
  return {
    observe: ({ expiresAt }) => remaining.observe((expiresAt - clock.now()) / 1000),
    collect: () => [
      {
        name: "apiserver_client_certificate_expiration_seconds",
        type: "histogram",
        stability: "ALPHA",
        help: "Seconds that the client certificate of a request is still good for.",
        samples: [...remaining.samples("")],
      },
    ],
  };
}

/** @param errors so far. Source: apiserver's endpoints/metrics */
export function handshakeMetrics(errors: () => number): () => Metric[] {
  return () => [
    {
      name: "apiserver_tls_handshake_errors_total",
      type: "counter",
      stability: "ALPHA",
      help: "Connections that ended in their TLS handshake.",
      samples: [{ suffix: "", labels: "", value: errors() }],
    },
  ];
}
