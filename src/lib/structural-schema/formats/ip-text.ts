/** IP addresses in text, without zones and leading zeros. Source: https://pkg.go.dev/net#ParseIP. */

/** Whether the text is an IPv4 address. */
export const isIpv4 = (text: string): boolean => /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(text);

/** Whether the text is an IPv6 address; its last two groups may be an IPv4 address. */
export function isIpv6(text: string): boolean {
  if (text.length > ipv6LengthMax) return false;
  const halves = text.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const last = groups.at(-1);
  const dotted = last?.includes(".") === true && !text.endsWith("::");
  if (dotted && !isIpv4(last as string)) return false;
  const plain = dotted ? groups.slice(0, -1) : groups;
  const count = groups.length + (dotted ? 1 : 0);
  return plain.every((group) => /^[0-9A-Fa-f]{1,4}$/.test(group)) && (halves.length === 2 ? count < 8 : count === 8);
}

/** Six groups of four digits, and the longest IPv4 address. */
const ipv6LengthMax = "0000:0000:0000:0000:0000:0000:255.255.255.255".length;
