import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../command.ts";
import { oneName, runNumber } from "../session/select.ts";
import { parseDuration } from "../text/duration.ts";

export const command: Command = {
  name: "replay",
  showsTerminal: true,
  summary: "replay a session's recording",
  onlyReads: true,
  section: "Read output",
  usage: "NAME [--speed 4] [--from 10m] [--idle-limit 2s] [--run N]",
  description:
    "Space pauses, n or → skips to the next output, + and - change the speed, q or Ctrl+C quits. Output without recorded times plays at once, with a note on the screen. A recording larger than the terminal is cut off. With --json, all steps are printed at once, one per line.",
  flags: {
    speed: { value: "N", summary: "playback speed (default 1)", complete: "nothing" },
    from: { value: "TIME", summary: "start this long after the beginning", complete: "nothing" },
    "idle-limit": { value: "TIME", summary: "longest pause", complete: "nothing" },
    run: { value: "N", summary: "run number (default: the last run)", complete: "nothing" },
  },
  arguments: "sessions",
  examples: [
    ["holdfast replay build", "replay at the original speed"],
    ["holdfast replay build --speed 4 --idle-limit 2s", "replay fast, without long pauses"],
    ["holdfast replay build --from 10m", "skip the first ten minutes"],
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
