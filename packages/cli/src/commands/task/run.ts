import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Command, Context } from "../../command.ts";
import { printNotes } from "../../session/start.ts";
import { checkHands, findHands, type Hands, handsFor } from "../../task/hands.ts";
import { parseTaskFile, type TaskItem } from "../../task/parse.ts";
import { drawn, LiveBlock, lineOf, Standings } from "../../task/progress.ts";
import { waves } from "../../task/schedule.ts";
import { SessionTurns } from "../../task/sessions.ts";
import { readTaskFile } from "../../task/tick.ts";
import { type Change, work } from "../../task/work.ts";
import { plain } from "../../text/plain.ts";
import { TRUST_FLAG, trustFirst } from "../../workspace/trusting.ts";

/** Redraw interval of the times on a terminal. */
const DRAW_MS = 1000;
const MOST_AT_ONCE = 64;

export const command: Command = {
  name: "task run",
  summary: "run the open items of a task file and check off the finished ones",
  usage: "FILE.md [--agent A] [--parallel N] [--worktree [--trust]] [--dry-run] [--multi-turn]",
  description:
    "An agent works on each open item (- [ ] …) in its own conversation. The lines indented below an item belong to its prompt. A task file looks like this:\n\n  - [ ] 1. Analyze the authentication code\n    <!-- agent: security-expert -->      an agent or a persona\n    <!-- budget: cost=2 -->              also <!-- model: opus --> and <!-- turns: 3 -->\n    Turn 1: Initial analysis             turns of one conversation, one after the other\n    Turn 2: Generate a remediation plan\n  - [ ] 2. Write the tests <!-- after: 1 -->\n\nOnly the boxes are required. Settings above the first item apply to all items. Ctrl+C stops waiting; running items keep running. The next run of the file continues with them and with the items that are left.",
  arguments: "files",
  flags: {
    agent: { value: "AGENT", summary: "agent or persona for items that name none", complete: "agents" },
    parallel: {
      value: "N",
      summary: "number of items to run at once (default: 1); items that depend on each other wait",
      complete: "nothing",
    },
    worktree: { summary: "run each item in its own git worktree; see holdfast workspace" },
    trust: TRUST_FLAG,
    "dry-run": { summary: "print the order and the agents, and run nothing" },
    "multi-turn": { summary: "send the turns of an item one after the other (default)" },
  },
  examples: [
    ["holdfast task run TASKS.md --agent claude", "run every open item, one after the other"],
    ["holdfast task run TASKS.md --parallel 3 --worktree", "run three items at once, each in a worktree"],
    ["holdfast task run TASKS.md --dry-run", "print what would run"],
    ["holdfast task run TASKS.md --json | jq '.items[] | select(.outcome != \"done\")'", "list the items that were not done, for a script"],
  ],
  async run(context) {
    const [name, ...more] = context.args;
    if (name === undefined || more.length > 0)
      throw new HoldfastError("usage", "expected one task file", { hint: "for example: holdfast task run TASKS.md --agent claude" });
    const { flags, client } = context;
    const items = parseTaskFile(name, readTaskFile(name));
    const cwd = process.cwd();
    const hands = await findHands(client, { cwd, agent: flags.text("agent") });
    const left = items.filter(({ done }) => !done);
    checkHands(name, left, hands);
    if (flags.has("dry-run")) return plan(context, { items, hands });
    const notes = new Set<string>();
    const onNote = (note: string) => void notes.add(note);
    const where = { file: realpathSync(name), cwd, worktree: flags.has("worktree"), hands, onNote };
    if (where.worktree) await trustFirst(context, cwd);
    const turns = await SessionTurns.open(client, where, items);
    try {
      return await carryOut(context, { name, items, turns, parallel: parallelOf(flags.text("parallel")) });
    } finally {
      // Not earlier: they would break the live display.
      if (!context.json) printNotes(notes);
    }
  },
};

type Carried = { name: string; items: readonly TaskItem[]; turns: SessionTurns; parallel: number };

async function carryOut({ json }: Context, { name, items, turns, parallel }: Carried): Promise<number> {
  const standings = new Standings(items);
  const stop = new AbortController();
  const isLive = !json && process.stdout.isTTY === true;
  const block = new LiveBlock(process.stdout);
  const draw = () => {
    const { columns = 80, rows = 24 } = process.stdout;
    if (isLive) block.draw(drawn(basename(name), standings, { now: Date.now(), columns, rows }));
  };
  const onChange = (item: TaskItem, change: Change) => {
    standings.take(item, change, Date.now());
    const line = lineOf(item, change, standings.of(item));
    if (!json && !isLive && line !== undefined) process.stdout.write(`${line}\n`);
    draw();
  };
  const interrupt = () => stop.abort();
  process.on("SIGINT", interrupt);
  const timer = setInterval(draw, DRAW_MS);
  try {
    draw();
    await work({ file: name, items, turns, parallel, signal: stop.signal, onChange });
  } catch (error) {
    throw cutOff(name, standings, error);
  } finally {
    clearInterval(timer);
    process.off("SIGINT", interrupt);
  }
  if (json) process.stdout.write(`${JSON.stringify(report(name, standings))}\n`);
  return stop.signal.aborted ? interrupted(standings) : ended(name, standings, json);
}

function ended(name: string, standings: Standings, json: boolean): number {
  const [done, before] = [standings.in("done").length, standings.in("before").length];
  const missing = standings.in("failed", "blocked", "open");
  const all = before > 0 ? ` (${before} done before)` : "";
  const told =
    done === 0 && missing.length === 0
      ? `Nothing is left to do in ${plain(name)}.`
      : `${done} of ${standings.items.length} items done${all}.`;
  if (!json) process.stdout.write(`${told}\n`);
  if (missing.length === 0) return 0;
  const why = missing.map((item) => plain(`${name}:${item.line}: ${item.label} was not done: ${standings.of(item).why ?? "not started"}`));
  throw new HoldfastError("task_failed", why.join("\n"), { hint: `run the remaining items: holdfast task run ${plain(name)}` });
}

function interrupted(standings: Standings): number {
  const running = standings.in("running").map((item) => plain(standings.of(item).session ?? ""));
  process.stderr.write(`holdfast: ${whatGoesOn(standings)}; run the command again to continue\n`);
  if (running.length > 0) process.stderr.write(`  stop them: holdfast stop ${running.join(" ")}\n`);
  return 130;
}

function cutOff(name: string, standings: Standings, error: unknown): HoldfastError {
  const { code, message, hint } = HoldfastError.from(error);
  return new HoldfastError(code, `${message}; ${whatGoesOn(standings)}`, {
    hint: `${hint === undefined ? "" : `${hint}; `}run the remaining items: holdfast task run ${plain(name)}`,
    cause: error,
  });
}

/** Items that keep running after the command ends. */
function whatGoesOn(standings: Standings): string {
  const running = standings.in("running").map((item) => `${item.label} (session ${standings.of(item).session ?? ""})`);
  return running.length === 0 ? "nothing is running" : `${plain(running.join(", "))} ${running.length === 1 ? "keeps" : "keep"} running`;
}

function report(file: string, standings: Standings) {
  const items = standings.items.map((item) => {
    const { state, session, turn, why, began, ended: end } = standings.of(item);
    return {
      label: item.label,
      line: item.line,
      title: item.title,
      outcome: state === "before" ? "done" : state,
      before: state === "before",
      session,
      turns: item.turns.length,
      turnsDone: turn,
      durationMs: began === null || end === null ? null : end - began,
      why,
    };
  });
  return { file, items };
}

function plan({ json }: Context, { items, hands }: { items: readonly TaskItem[]; hands: Hands }): number {
  const steps = waves(items).map((wave) => wave.map((item) => ({ item, ...handsFor(item, hands) })));
  if (json) {
    const told = steps.flatMap((wave, index) =>
      wave.map(({ item, agent, persona = null }) => ({
        wave: index + 1,
        label: item.label,
        line: item.line,
        title: item.title,
        agent,
        persona,
        turns: item.turns,
        after: item.after.map(({ label }) => label),
      })),
    );
    process.stdout.write(`${JSON.stringify(told)}\n`);
    return 0;
  }
  const lines = steps.flatMap((wave, index) => [
    index === 0 ? "First:" : "Then:",
    ...wave.map(({ item, agent, persona }) => {
      const who = persona === undefined ? agent : `${agent} as ${persona}`;
      const turns = item.turns.length === 1 ? "1 turn" : `${item.turns.length} turns`;
      const after = item.after.length === 0 ? "" : `, after ${item.after.map(({ label }) => label).join(", ")}`;
      return plain(`  ${item.label} ${item.title} (${who}, ${turns}${after})`);
    }),
  ]);
  process.stdout.write(lines.length === 0 ? "Nothing is left to do.\n" : `${lines.join("\n")}\n`);
  return 0;
}

function parallelOf(text = "1"): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= MOST_AT_ONCE) return count;
  throw new HoldfastError("usage", `--parallel takes a number from 1 to ${MOST_AT_ONCE}, not ${JSON.stringify(text)}`, {
    hint: "for example: --parallel 3",
  });
}
