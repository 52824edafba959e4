/**
 * Interprets an agent's screen by rules that are data. The first rule that fits wins. A rule that fits in the wrong place is worse than none, so each
 * rule names where it looks: the title, the bottom lines (a transcript above may quote anything), or both.
 */
import type { Attention, Claim, EvidenceSource, Screen, Turn, Wait } from "@holdfast/contract";
import { unframed } from "../dialog.ts";
import { timeSaid } from "./time-said.ts";

export interface ScreenRule {
  /** For `explain`. */
  name: string;
  title?: RegExp;
  /** Matches the last non-empty line: the foot of a dialog or composer, where no transcript appears. */
  foot?: RegExp;
  /** Matches one of the last `within` non-empty lines. */
  line?: RegExp;
  /** Matches these lines joined by newlines. */
  block?: RegExp;
  /** Matches none of these lines. */
  without?: RegExp;
  within?: number;
  /** Bracketed paste is on, or off. Some agents enable it only while they read a line. */
  reads?: boolean;
  turn?: Turn;
  /** The wait. Its text is the rule's first group, else the question of a question dialog, else the matched line. */
  waits?: Wait;
  /** Matches the joined last lines. The first group is the time when the agent continues, maybe with a date. */
  until?: RegExp;
  /** The agent does not wait for a person. Only for rules that would have seen a wait. */
  calm?: boolean;
  background?: boolean;
}

/** Height of the tallest dialogs, with their subject. */
const WITHIN = 25;

export function readScreen(
  rules: readonly ScreenRule[],
  screen: Pick<Screen, "lines" | "title"> & Partial<Pick<Screen, "bracketedPaste">>,
  now: number = Date.now(),
): { claim: Claim; what: string; source: EvidenceSource } | undefined {
  const lines = screen.lines.filter((line) => line.trim() !== "");
  for (const rule of rules) {
    const bottom = lines.slice(-(rule.within ?? WITHIN));
    if (rule.reads !== undefined && rule.reads !== screen.bracketedPaste) continue;
    const title = rule.title?.exec(screen.title);
    if (rule.title && !title) continue;
    const foot = rule.foot && fit(rule.foot, lines.at(-1) ?? "");
    if (rule.foot && !foot) continue;
    const line = rule.line && last(bottom, rule.line);
    if (rule.line && !line) continue;
    const block = rule.block?.exec(bottom.join("\n"));
    if (rule.block && !block) continue;
    if (rule.without && bottom.some((text) => rule.without?.test(text))) continue;
    const seen = line?.[0] ?? block?.[1] ?? foot?.[0] ?? title?.[0] ?? "";
    const asked = rule.waits === "question" ? questionIn(lines.slice(-WITHIN)) : undefined;
    return {
      claim: claimOf(rule, (line ?? block ?? title)?.[1] ?? asked ?? line?.input ?? "", untilOf(rule, bottom, now)),
      what: `${rule.name}${seen ? `: ${JSON.stringify(seen.trim())}` : ""}`,
      source: rule.line || rule.block || rule.foot || rule.without ? "screen" : "title",
    };
  }
  return undefined;
}

/** Encodes which rules match a title. A change means that the agent does something else. */
export function titleRules(rules: readonly ScreenRule[], title: string): string {
  return rules.map((rule) => (rule.title?.test(title) ? 1 : 0)).join("");
}

/** Reads a title without its screen, which may have another title by now. Undefined if only the screen tells whether it belongs to a turn. */
export function readTitle(rules: readonly ScreenRule[], title: string): ReturnType<typeof readScreen> {
  const matching = rules.filter((rule) => rule.title?.test(title));
  const alone = matching.find((rule) => !(rule.line ?? rule.block ?? rule.foot ?? rule.without ?? rule.reads));
  const isAmbiguous = matching.slice(0, alone && matching.indexOf(alone)).some(({ turn }) => turn !== undefined && turn !== alone?.turn);
  return alone && !isAmbiguous ? readScreen([alone], { lines: [], title }) : undefined;
}

/** The line directly above the first choice, which is the question in every known agent. */
function questionIn(lines: readonly string[]): string | undefined {
  const plain = lines.map(unframed).filter(Boolean);
  const first = plain.findLastIndex((line) => /^(\S )?1\. /.test(line));
  return first > 0 ? plain[first - 1] : undefined;
}

function untilOf({ until }: ScreenRule, bottom: readonly string[], now: number): string | null {
  const said = until?.exec(bottom.map((line) => line.trim()).join(" "))?.[1];
  const time = said === undefined ? undefined : timeSaid(said, now);
  return time === undefined ? null : new Date(time).toISOString();
}

function claimOf(rule: ScreenRule, text: string, until: string | null): Claim {
  const claim: Claim = {};
  if (rule.turn) claim.turn = rule.turn;
  const line = unframed(text).replaceAll(/\s*\n\s*/g, " ");
  if (rule.waits) claim.attention = { for: rule.waits, text: line || null, until } satisfies Attention;
  else if (rule.calm) claim.attention = null;
  if (rule.background !== undefined) claim.background = rule.background;
  return claim;
}

/** Screen lines lose trailing blanks: a prompt of "> " is read as ">", and a rule may use either form. */
function fit(pattern: RegExp, line: string): RegExpExecArray | null {
  return pattern.exec(line) ?? pattern.exec(`${line} `);
}

function last(lines: readonly string[], pattern: RegExp): RegExpExecArray | undefined {
  for (let i = lines.length - 1; i >= 0; i--) {
    const match = fit(pattern, lines[i] ?? "");
    if (match) return match;
  }
  return undefined;
}
