/** Opens watches and reads them. Arguments: the target and `{ path, watchers, streamsMax }`, both as JSON. */
import { BenchClient, type Target } from "../client.ts";

const target = JSON.parse(process.argv[2] as string) as Target;
const { path, watchers, streamsMax } = JSON.parse(process.argv[3] as string) as {
  readonly path: string;
  readonly watchers: number;
  readonly streamsMax: number;
};
process.once("disconnect", () => process.exit());
for (let opened = 0; opened < watchers; ) {
  const client = new BenchClient(target);
  const some = Math.min(streamsMax, watchers - opened);
  // Each stream has begun when its first bytes are here: the objects that exist.
  await Promise.all(
    Array.from({ length: some }, () => new Promise<void>((begun) => void client.follow(path, () => begun()))),
  );
  opened += some;
}
process.send?.("ready");
