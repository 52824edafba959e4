import { readFileSync } from "node:fs";
import type { Session } from "@holdfast/contract";
import { inspect } from "@holdfast/platform";
import { eventually } from "../tests/home.ts";
import { type Benchmark, spread } from "./harness.ts";
import { BenchHome } from "./rig/home.ts";

const OUTPUT = 10_000_000;

export const holder: Benchmark = {
  name: "holder-memory",
  measures:
    "Resident memory of the holder of a native session at rest, and after its program has written 10 MB in colour; and its private share, not shared with other holders.",
  baseline: "none",
  budget: "≤ 60 MB",
  async run(scale) {
    await using home = new BenchHome();
    await home.ok(["up"]);
    using client = home.client();
    const count = scale.samples(10);
    const resting = await home.spawnMany(client, count, ["sleep", "1000000"], { host: "native" });
    const script = `yes "$(printf '\\033[32mgreen\\033[0m %060d' 7)" | head -c ${OUTPUT}; echo; echo done; exec sleep 1000000`;
    const written = await home.spawnMany(client, count, ["/bin/sh", "-c", script], { host: "native" });
    for (const { id } of written) {
      await eventually(async () => (await client.call("getScreen", { params: { ref: id } })).lines.includes("done"), 60_000);
    }
    const limit = { of: "subject", atMost: 60 } as const;
    return [
      { what: "at rest", unit: "MB", subject: spread(resting.map((session) => memory(session, "Rss"))), limit },
      { what: "at rest, its own", unit: "MB", subject: spread(resting.map((session) => memory(session, "Private_Dirty"))) },
      { what: "after 10 MB of output", unit: "MB", subject: spread(written.map((session) => memory(session, "Rss"))), limit },
    ];
  },
};

function memory(session: Session, field: "Rss" | "Private_Dirty"): number {
  const pid = inspect(session.pid ?? 0)?.parent ?? 0;
  const kilobytes = new RegExp(`^${field}: +(\\d+) kB$`, "m").exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1];
  return Number(kilobytes) / 1024;
}
