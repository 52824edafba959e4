/** The status row of the conversation, most important parts first. Parts that do not fit are dropped from the end. */
import type { Settings } from "@holdfast/contract/conversation/transcript";
import type { Session } from "@holdfast/contract/session/session";
import { reachedText, useText } from "@holdfast/contract/usage/amounts";
import type { BudgetState, BudgetUse } from "@holdfast/contract/usage/budget";
import { cut, widthOf } from "../text/fit.ts";
import { plain } from "../text/plain.ts";
import { costCell, formatTokens, tokensCell } from "../usage/spent.ts";
import { nameOf } from "./view.ts";

export interface Standing {
  session: Session | undefined;
  settings: Settings | null;
  /** Turns seen here may be ahead of the session's count. */
  turns: number;
  others: readonly string[];
  trouble: string | undefined;
}

export function statusParts({ session, settings, turns, others, trouble }: Standing): string[] {
  if (!session) return [trouble ?? "connecting …"];
  const { spent } = session;
  const tokens =
    spent === null
      ? "? tokens"
      : `${tokensCell(spent.input + spent.cacheRead + spent.cacheWrite, spent)} in ${tokensCell(spent.output, spent)} out`;
  return [
    ...(trouble === undefined ? [] : [trouble]),
    plain(session.name),
    `${turns} ${turns === 1 ? "turn" : "turns"}`,
    tokens,
    spent === null ? "$?" : costCell(spent).replace(/^\?$/, "$?"),
    ...(session.budget ? budgetPart(session.budget) : []),
    `context ${fill(session)}`,
    ...(settings?.mode ? [plain(settings.mode)] : []),
    ...(settings?.model ? [plain(settings.model)] : []),
    ...(others.length > 0 ? [`with ${others.map(nameOf).join(", ")}`] : []),
  ];
}

/** The limit with the largest used share. */
function budgetPart({ limits, exceeded }: BudgetState): string[] {
  if (exceeded) return [`budget: ${reachedText(exceeded)}`];
  const share = ({ used, allowed }: BudgetUse) => (used ?? 0) / allowed;
  const [nearest] = limits.toSorted((a, b) => share(b) - share(a));
  return nearest ? [`budget ${useText(nearest)}`] : [];
}

function fill({ spent }: Session): string {
  const context = spent?.context;
  if (!context) return "?";
  return context.size ? `${Math.round((context.used / context.size) * 100)} %` : formatTokens(context.used);
}

export function statusRow(parts: readonly string[], width: number): string {
  let row = "";
  for (const part of parts) {
    const next = row === "" ? part : `${row} · ${part}`;
    if (widthOf(next) > width) break;
    row = next;
  }
  return row === "" ? cut(parts[0] ?? "", Math.max(1, width)) : row;
}
