/** Parses a moment in the past. */
import { HoldfastError } from "@holdfast/contract/errors";
import { durationMs } from "@holdfast/platform/units";

/** `2h` ago; `14:30`, its last occurrence; `2026-11-15`, `2026-11-15T14:30`. In the local time zone unless it names one. */
export function parseSince(text: string, flag: string, now = new Date()): string {
  const ago = durationMs(text);
  const time = ago === undefined ? (clockTime(text, now) ?? dateTime(text)) : now.getTime() - ago;
  if (time === undefined || time < 0 || time > 8.64e15) {
    throw new HoldfastError("usage", `${flag} takes a duration or a time, not ${JSON.stringify(text)}`, {
      hint: "for example: 10m, 2h, 1d, 14:30, 2026-11-15, 2026-11-15T14:30",
    });
  }
  return new Date(time).toISOString();
}

function clockTime(text: string, now: Date): number | undefined {
  const [, hours, minutes] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  if (hours === undefined) return undefined;
  const time = new Date(now);
  time.setHours(Number(hours), Number(minutes), 0, 0);
  if (time > now) time.setDate(time.getDate() - 1);
  return time.getTime();
}

/** A date alone means local midnight, not UTC. */
function dateTime(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d/.test(text)) return undefined;
  const time = Date.parse(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text.replace(/^(\S+) (\S+)$/, "$1T$2"));
  return Number.isNaN(time) ? undefined : time;
}
