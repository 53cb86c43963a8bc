/** Writes unusual client certificates with their keys and trusted roots, one JSON object a line; main.go adds the user that upstream authenticates. */
import {
  anyUsage,
  clientAuth,
  Extension,
  KeyUsageFlags,
  type OddAuthority,
  type OddCertificate,
  oddCertificate,
  serverAuth,
} from "../../../test/support/odd-certificates.ts";

const always = { notBefore: new Date("2020-01-01T00:00:00Z"), notAfter: new Date("2120-01-01T00:00:00Z") };
const past = { notBefore: new Date("2020-01-01T00:00:00Z"), notAfter: new Date("2021-01-01T00:00:00Z") };
const future = { notBefore: new Date("2110-01-01T00:00:00Z"), notAfter: new Date("2120-01-01T00:00:00Z") };
const make = (certificate: OddCertificate, issuer?: OddAuthority, keys?: OddAuthority["keys"]): Promise<OddAuthority> =>
  oddCertificate({ ...always, ...certificate }, issuer, keys);
const authority = (
  name: string,
  more: Partial<OddCertificate> = {},
  issuer?: OddAuthority,
  keys?: OddAuthority["keys"],
): Promise<OddAuthority> => make({ subject: [{ CN: [name] }], authority: {}, ...more }, issuer, keys);
const leaf = (issuer: OddAuthority | undefined, more: Partial<OddCertificate> = {}): Promise<OddAuthority> =>
  make({ subject: [{ O: ["b"] }, { O: ["a"] }, { CN: ["ann"] }], usages: [clientAuth], ...more }, issuer);

const root = await authority("root");
const namesake = await authority("root");
const middle = await authority("middle", {}, root);
const lower = await authority("lower", {}, middle);
const zero = await authority("zero", { authority: { pathLength: 0 } }, root);
const belowZero = await authority("below zero", {}, zero);
const zeroRoot = await authority("zero root", { authority: { pathLength: 0 } });
const belowZeroRoot = await authority("below zero root", {}, zeroRoot);
const pastRoot = await authority("past", past);
const pastMiddle = await authority("past middle", past, root);
const forServers = await authority("for servers", { usages: [serverAuth] }, root);
const forAny = await authority("for any", { usages: [anyUsage] }, root);
const serversRoot = await authority("servers' root", { usages: [serverAuth] });
const noSign = await authority("may not sign", { keyUsage: KeyUsageFlags.digitalSignature }, root);
const noAuthority = await make({ subject: [{ CN: ["no authority"] }], usages: [clientAuth] }, root);
const noAuthorityRoot = await make({ subject: [{ CN: ["no authority"] }] });
const other = await authority("other");
const crossed = await authority("other", {}, root, other.keys);
const renewed = await authority("root", {}, undefined, root.keys);
const bare = await authority("bare", { withoutKeyIds: true });
const own = await leaf(undefined);
const uid = "1.3.6.1.4.1.57683.2";
/** NULL, under an unassigned object identifier. */
const unknown = (critical: boolean): Extension => new Extension("1.2.3.4.5", critical, new Uint8Array([5, 0]));

const rows: [what: string, roots: OddAuthority[], chain: OddAuthority[]][] = [
  ["a good one", [root], [await leaf(root)]],
  ["one of several", [other, root], [await leaf(root)]],
  ["without usages", [root], [await leaf(root, { usages: [] })]],
  ["for servers", [root], [await leaf(root, { usages: [serverAuth] })]],
  ["for both", [root], [await leaf(root, { usages: [serverAuth, clientAuth] })]],
  ["for any use", [root], [await leaf(root, { usages: [anyUsage] })]],
  ["for another use", [root], [await leaf(root, { usages: ["1.3.6.1.5.5.7.3.4"] })]],
  ["whose key may not sign", [root], [await leaf(root, { keyUsage: KeyUsageFlags.keyEncipherment })]],
  ["without key identifiers", [bare], [await leaf(bare, { withoutKeyIds: true })]],
  ["expired", [root], [await leaf(root, past)]],
  ["not valid yet", [root], [await leaf(root, future)]],
  ["an unknown extension", [root], [await leaf(root, { extensions: [unknown(false)] })]],
  ["an unknown extension that must be understood", [root], [await leaf(root, { extensions: [unknown(true)] })]],
  ["by an authority between", [root], [await leaf(middle), middle]],
  ["by an authority between, which is not shown", [root], [await leaf(middle)]],
  ["by two between", [root], [await leaf(lower), lower, middle]],
  ["by two between, the other way round", [root], [await leaf(lower), middle, lower]],
  ["by two between, with the root", [root], [await leaf(lower), lower, middle, root]],
  ["with others' certificates between", [root], [await leaf(lower), other, lower, namesake, middle]],
  ["by one between that is trusted itself", [middle], [await leaf(middle)]],
  ["by one between that is trusted itself, and one below it", [middle], [await leaf(lower), lower]],
  ["by one between that is trusted itself, shown with its root", [middle], [await leaf(middle), middle, root]],
  ["by a namesake", [root], [await leaf(namesake)]],
  ["by a namesake, shown", [root], [await leaf(namesake), namesake]],
  ["by a namesake, beside him", [namesake, root], [await leaf(root)]],
  ["below one that may have none below", [root], [await leaf(zero), zero]],
  ["two below one that may have one below", [root], [await leaf(belowZero), belowZero, zero]],
  ["two below a root that may have one below", [zeroRoot], [await leaf(belowZeroRoot), belowZeroRoot]],
  ["by a root that has expired", [pastRoot], [await leaf(pastRoot)]],
  ["by one between that has expired", [root], [await leaf(pastMiddle), pastMiddle]],
  ["by an authority for servers", [root], [await leaf(forServers), forServers]],
  ["by an authority for any use", [root], [await leaf(forAny), forAny]],
  ["by a root for servers", [serversRoot], [await leaf(serversRoot)]],
  ["by one between whose key may not sign", [root], [await leaf(noSign), noSign]],
  ["by one that is no authority", [root], [await leaf(noAuthority), noAuthority]],
  ["by a root that is no authority", [noAuthorityRoot], [await leaf(noAuthorityRoot)]],
  ["by an authority that another signed", [root], [await leaf(other), crossed]],
  ["by an authority that another signed, and signs itself", [root], [await leaf(other), other, crossed]],
  ["by a root that was made anew with its key", [renewed], [await leaf(root)]],
  ["signed by itself", [root], [own]],
  ["signed by itself, and trusted", [own], [own]],
  ["the root's own", [root], [root]],
  ["no common name", [root], [await leaf(root, { subject: [{ O: ["system:masters"] }] })]],
  ["an empty subject", [root], [await leaf(root, { subject: [] })]],
  ["two common names", [root], [await leaf(root, { subject: [{ CN: ["ann"] }, { CN: ["ben"] }] })]],
  ["the same group twice", [root], [await leaf(root, { subject: [{ O: ["a"] }, { O: ["a"] }, { CN: ["ann"] }] })]],
  [
    "other attributes",
    [root],
    [await leaf(root, { subject: [{ C: ["DE"] }, { OU: ["u"] }, { O: ["a"] }, { CN: ["ann"] }] })],
  ],
  [
    "UTF-8, quotes and newlines",
    [root],
    [await leaf(root, { subject: [{ O: ["a\nO=system:masters"] }, { CN: ['änn, O=b "c" ☃'] }] })],
  ],
  ["a uid", [root], [await leaf(root, { subject: [{ CN: ["ann"] }, { [uid]: ["u"] }] })]],
  ["two uids", [root], [await leaf(root, { subject: [{ CN: ["ann"] }, { [uid]: ["u"] }, { [uid]: ["v"] }] })]],
];
for (const [what, roots, chain] of rows) {
  const pem = (all: OddAuthority[]): string => all.map(({ cert }) => cert).join("");
  process.stdout.write(`${JSON.stringify({ what, roots: pem(roots), chain: pem(chain), key: chain[0]?.key })}\n`);
}
