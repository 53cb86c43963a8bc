import { badRequest } from "../../apimachinery/errors.ts";
import { ipVersion } from "../../lib/ip-range/ip-version.ts";
import { isObject } from "../../lib/json/values.ts";
import type { TestTools } from "../tools.ts";
import type { ControlRoute } from "./contract.ts";

const hostsMax = 100;
const dnsName = /^(?=.{1,253}$)(?:\*\.)?[a-z\d](?:[a-z\d-]{0,62})(?:\.[a-z\d](?:[a-z\d-]{0,62}))*$/i;

/**
 * `POST /testing/certificates` with `{hosts}` issues a serving certificate for a webhook in another process, of the
 * authority that the server trusts for webhooks of tests.
 */
export function certificateRoutes(tools: TestTools): readonly ControlRoute[] {
  return [
    {
      method: "POST",
      path: "certificates",
      async handle({ body }) {
        const hosts = readHosts(await body());
        const { authority } = await tools.webhooks();
        const { cert, key } = await authority.issue(hosts);
        return { status: 201, json: { certificate: cert, key, ca: await authority.ca() } };
      },
    },
  ];
}

/** @throws ApiError 400 */
function readHosts(body: unknown): readonly string[] {
  if (!isObject(body) || !Array.isArray(body.hosts) || Object.keys(body).length > 1)
    throw badRequest("the body must be an object with the field hosts, a list of DNS names and addresses");
  const { hosts } = body;
  if (hosts.length === 0 || hosts.length > hostsMax) throw badRequest(`hosts: there must be between 1 and ${hostsMax}`);
  for (const [index, host] of hosts.entries())
    if (typeof host !== "string" || (ipVersion(host) === 0 && !dnsName.test(host)))
      throw badRequest(`hosts[${index}]: must be a DNS name or an address, such as 127.0.0.1`);
  return hosts;
}
