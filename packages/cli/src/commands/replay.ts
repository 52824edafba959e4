import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../command.ts";
import { parseDuration } from "../duration.ts";
import { oneName, runNumber } from "../select.ts";

export const command: Command = {
  name: "replay",
  showsTerminal: true,
  summary: "watch a session's recording again, in its time",
  onlyReads: true,
  usage: "NAME [--speed 4] [--from 10m] [--idle-limit 2s] [--run N]",
  description:
    "Space pauses, n or → goes to the next output, + and - change the speed, q or Ctrl+C leaves. What came while nobody took the time is\nplayed at once, and the screen says so. A recording larger than the terminal is cut off. With --json: every step at once, one per line.",
  flags: {
    speed: { value: "N", summary: "so many times as fast (default 1)", complete: "nothing" },
    from: { value: "TIME", summary: "begin so long after its start", complete: "nothing" },
    "idle-limit": { value: "TIME", summary: "no pause longer than this", complete: "nothing" },
    run: { value: "N", summary: "of this run of the session (default: the last)", complete: "nothing" },
  },
  arguments: "sessions",
  examples: [
    ["holdfast replay build", "as it was"],
    ["holdfast replay build --speed 4 --idle-limit 2s", "in a hurry"],
    ["holdfast replay build --from 10m", "the first ten minutes left out"],
  ],
  async run(context) {
    const { flags } = context;
    const ref = oneName(context, "replay NAME");
    const from = flags.text("from");
    const idleLimit = flags.text("idle-limit");
    const options = {
      ref,
      run: runNumber(flags),
      speed: speedOf(flags.text("speed")),
      from: from === undefined ? 0 : parseDuration(from, "--from"),
      idleLimit: idleLimit === undefined ? undefined : parseDuration(idleLimit, "--idle-limit"),
    };
    const { replay } = await import("../replay/replay.ts");
    return replay(context, options);
  },
};

function speedOf(text: string | undefined): number {
  const speed = Number(text ?? 1);
  if (/^\d+(?:\.\d+)?$/.test(text ?? "1") && speed >= 0.01 && speed <= 1000) return speed;
  throw new HoldfastError("usage", `--speed takes a number from 0.01 to 1000, not ${JSON.stringify(text)}`);
}
