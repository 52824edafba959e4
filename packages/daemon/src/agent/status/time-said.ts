/** Parses times as agents show them: `9:41 AM`, `3pm`, `14:05`, optionally after a date (`Nov 16th, 2026 9:41 AM`, `Nov 18, 3pm`). */

const TIME = /^(?:([A-Z][a-z]{2})[a-z]* (\d{1,2})(?:st|nd|rd|th)?(?:, (\d{4}))?(?:,| at)? )?(\d{1,2})(?::(\d\d))? ?([ap]m)?/i;
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAY_MS = 86_400_000;

/** Milliseconds since 1970, in the local time zone; undefined if invalid. Without a date: the nearest such time, past or future. */
export function timeSaid(text: string, now: number): number | undefined {
  const [all, month, day, year, hours = "", minutes = "0", half] = TIME.exec(text) ?? [];
  if (all === undefined || (half === undefined && !all.includes(":"))) return undefined;
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === "pm" ? 12 : 0);
  if (hour > 23 || Number(minutes) > 59) return undefined;
  const date = new Date(now);
  date.setHours(hour, Number(minutes), 0, 0);
  if (month === undefined) return nearest(date.getTime(), now);
  const named = MONTHS.indexOf(month.toLowerCase());
  if (named < 0) return undefined;
  date.setFullYear(year === undefined ? date.getFullYear() : Number(year), named, Number(day));
  // A limit announced in December may end in January.
  if (year === undefined && date.getTime() < now - 180 * DAY_MS) date.setFullYear(date.getFullYear() + 1);
  return date.getTime();
}

function nearest(time: number, now: number): number {
  if (time - now > DAY_MS / 2) return time - DAY_MS;
  return now - time > DAY_MS / 2 ? time + DAY_MS : time;
}
