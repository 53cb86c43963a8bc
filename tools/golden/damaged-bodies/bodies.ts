/** Writes damaged request bodies, one JSON object a line, for main.go. */
import { formatGroupVersion } from "../../../src/apimachinery/object.ts";
import { damagedBodies } from "../../../test/support/decoder-fuzz.ts";

const perFormat = Number(process.argv[2] ?? 1500);

for (const format of ["json", "yaml", "protobuf"] as const) {
  const damaged = damagedBodies(format, { sampleBytesMax: 1200 });
  for (let seed = 1; seed <= perFormat; seed++) {
    const { expected, bytes } = damaged(seed);
    const apiVersion = formatGroupVersion(expected.group, expected.version);
    console.log(JSON.stringify({ format, apiVersion, kind: expected.kind, body: bytes.toString("base64") }));
  }
}
