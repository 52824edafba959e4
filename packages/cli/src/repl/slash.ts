/** The /commands of a conversation. The agent's own commands are passed on to it; `//` sends a text that begins with a slash. */

import type { Settings } from "@holdfast/contract/conversation/transcript";
import { HoldfastError } from "@holdfast/contract/errors";
import { editDistance } from "@holdfast/platform/edit-distance";
import { describeApproval } from "../approval/text.ts";
import { statusCell } from "../session/status-text.ts";
import { columns } from "../text/columns.ts";
import { shortPath, widthOf } from "../text/fit.ts";
import { plain } from "../text/plain.ts";
import { budgetText } from "../usage/budget-text.ts";
import { contextText, costText, tokensText } from "../usage/spent.ts";
import type { Desk } from "./desk.ts";
import { inertLine, STYLE } from "./paint.ts";
import { asMarkdown, writeNew } from "./save.ts";

export interface Slash {
  usage?: string;
  summary: string;
  /** Completion candidates for the argument. */
  words?(desk: Desk): string[] | Promise<string[]>;
  run(desk: Desk, argument: string): void | Promise<void>;
}

/** Most typos in a mistyped command that is recognized. */
const SLIPS = 2;
const HISTORY_TURNS = 10;

const OFFER_MS = 5000;
const OFFER_EVERY_MS = 100;

export const SLASHES: Readonly<Record<string, Slash>> = {
  help: { summary: "list the commands", run: (desk) => desk.print(helpLines(desk)) },
  exit: { summary: "leave; the conversation stays (also /quit, Ctrl+D)", run: (desk) => desk.leave() },
  history: {
    usage: "[N]",
    summary: `print the last N turns again (${HISTORY_TURNS})`,
    run: async (desk, argument) => desk.print(await desk.show(countOf(argument, HISTORY_TURNS))),
  },
  save: { usage: "FILE", summary: "save the conversation to a markdown file", run: save },
  retry: {
    summary: "send the last message again",
    run(desk) {
      const words = desk.view.lastSaid;
      if (words === undefined) throw new HoldfastError("usage", "there is no message to send again");
      desk.say(words);
    },
  },
  steer: {
    usage: "TEXT",
    summary: "send a message during the turn",
    run: (desk, argument) => desk.say(needed(argument, "/steer TEXT"), { steer: true }),
  },
  cancel: {
    summary: "cancel the turn; its output stays (also Ctrl+C)",
    async run(desk) {
      if (!(await desk.talk.cancel())) desk.print([desk.paint(STYLE.dim, "· no turn is running")]);
    },
  },
  stop: {
    summary: "stop the agent, even if it ignores /cancel; your next message restarts it",
    async run(desk) {
      await desk.talk.stop();
      desk.print([desk.paint(STYLE.dim, "· stopped; your next message restarts it")]);
    },
  },
  clear: { summary: "clear the agent's memory; the transcript stays", run: async (desk) => void (await desk.talk.clear()) },
  model: {
    usage: "[MODEL]",
    summary: "show or change the model",
    words: (desk) => idsOf(desk, "models"),
    run: (desk, it) => choose(desk, "model", it),
  },
  mode: {
    usage: "[MODE]",
    summary: "show or change the mode",
    words: (desk) => idsOf(desk, "modes"),
    run: (desk, it) => choose(desk, "mode", it),
  },
  approve: {
    usage: "[yes|no|always|show]",
    summary: "answer a permission request: allow, deny, or show it",
    words: () => ["yes", "no", "always", "show"],
    run: approve,
  },
  unfold: {
    usage: "[N|all|none]",
    summary: "expand a tool's output and changes (also Ctrl+O)",
    words: () => ["all", "none"],
    run: unfold,
  },
  status: { summary: "show the status", run: status },
  context: { summary: "show how full the model's context is", run: context },
  cost: { summary: "show turns, tokens and cost", run: cost },
  sessions: { usage: "[NAME]", summary: "list conversations, or switch to another", words: conversationNames, run: sessions },
};

/** Aliases from other tools. */
const ALIASES: Readonly<Record<string, string>> = { quit: "exit", q: "exit", "?": "help", session: "sessions", usage: "cost" };

/** False if it is the agent's own command, to be sent unchanged. */
export async function runSlash(desk: Desk, line: string): Promise<boolean> {
  const [, name = "", argument = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  const known = Object.hasOwn(ALIASES, name) ? (ALIASES[name] as string) : name;
  if (Object.hasOwn(SLASHES, known)) {
    await SLASHES[known]?.run(desk, argument.trim());
    return true;
  }
  const own = (desk.conversation?.settings?.commands ?? []).map((command) => command.name);
  if (own.includes(name)) return false;
  const all = [...Object.keys(SLASHES), ...own];
  const slips = all.filter((each) => editDistance(each, name) <= SLIPS);
  const alike = all.filter((each) => name !== "" && (each.startsWith(name.slice(0, 2)) || each.includes(name)));
  throw new HoldfastError("usage", `there is no command /${name}`, {
    hint: "/help lists them; to send a text that starts with a slash, begin with two slashes",
    candidates: (slips.length > 0 ? slips : alike).map((each) => `/${each}`),
  });
}

function helpLines(desk: Desk): string[] {
  const { paint } = desk;
  const own = desk.conversation?.settings?.commands ?? [];
  const rows = Object.entries(SLASHES).map(([name, { usage, summary }]) => [`/${name}${usage ? ` ${usage}` : ""}`, summary]);
  const theirs = own.map(({ name, description }) => [`/${plain(name)}`, inertLine(description.split("\n")[0] ?? "")]);
  const room = Math.max(...[...rows, ...theirs, ...KEYS].map(([left = ""]) => widthOf(left)));
  const line = ([left = "", right = ""]: readonly string[]) => `  ${left.padEnd(room)}  ${paint(STYLE.dim, right)}`;
  return [
    ...rows.map(line),
    ...(theirs.length > 0 ? ["", paint(STYLE.bold, "from the agent"), ...theirs.map(line)] : []),
    "",
    paint(STYLE.bold, "keys"),
    ...KEYS.map(line),
  ];
}

const KEYS: readonly (readonly string[])[] = [
  ["Enter", "send; while the agent works: queue for the end of its turn"],
  ["Alt+Enter, \\ Enter", "a new line"],
  ["Tab", "complete a command, a name, an @file"],
  ["Up, Down, Ctrl+R", "earlier messages; search them"],
  ["Ctrl+C", "cancel the turn; again: leave"],
  ["Ctrl+O", "expand the last tool"],
  ["Ctrl+L", "redraw the screen"],
];

async function save(desk: Desk, argument: string): Promise<void> {
  const file = needed(argument, "/save FILE");
  const { session } = desk.conversation ?? (await desk.refresh());
  const path = writeNew(file, await asMarkdown(session, desk.talk.everything()));
  desk.print([`· saved to ${shortPath(path)}`]);
}

async function choose(desk: Desk, what: "mode" | "model", argument: string): Promise<void> {
  if (argument !== "") {
    await desk.talk.set({ [what]: argument });
    await desk.refresh();
    return;
  }
  const settings = await offered(desk);
  const choices = settings?.[`${what}s`] ?? [];
  const now = settings?.[what] ?? null;
  if (choices.length === 0) {
    desk.print([
      desk.paint(
        STYLE.dim,
        now === null ? `· the agent offers no ${what} to choose` : `· the ${what} is ${plain(now)}; it offers no other`,
      ),
    ]);
    return;
  }
  desk.print(
    choices.map(({ id, name, description }) => {
      const about = [name === id ? "" : name, description ?? ""].filter((part) => part !== "").join(": ");
      return `${id === now ? "●" : "○"} ${plain(id)}${about === "" ? "" : desk.paint(STYLE.dim, `  ${inertLine(about.split("\n")[0] ?? "")}`)}`;
    }),
  );
}

/** A newly started agent reports its settings in a moment. */
async function offered(desk: Desk): Promise<Settings | null> {
  for (const until = performance.now() + OFFER_MS; ; ) {
    const { settings } = await desk.refresh();
    if (settings !== null || performance.now() > until) return settings;
    await new Promise((resolve) => setTimeout(resolve, OFFER_EVERY_MS));
  }
}

function idsOf({ conversation }: Desk, what: "modes" | "models"): string[] {
  return (conversation?.settings?.[what] ?? []).map(({ id }) => id);
}

const ANSWERS: Readonly<Record<string, { decision: "allow" | "deny"; always: boolean }>> = {
  "": { decision: "allow", always: false },
  yes: { decision: "allow", always: false },
  y: { decision: "allow", always: false },
  always: { decision: "allow", always: true },
  a: { decision: "allow", always: true },
  no: { decision: "deny", always: false },
  n: { decision: "deny", always: false },
};

async function approve(desk: Desk, argument: string): Promise<void> {
  const [asked] = desk.view.asks;
  const approval = await (asked ? desk.talk.approvalFor(asked.ask) : desk.talk.approvals().then(([first]) => first));
  if (!approval) {
    desk.print([desk.paint(STYLE.dim, "· no open permission request")]);
    return;
  }
  if (argument === "show") {
    desk.print(describeApproval(approval, Date.now()));
    return;
  }
  if (!asked) {
    // The request did not come through the conversation, so nobody has seen it here.
    desk.print([...describeApproval(approval, Date.now()), desk.paint(STYLE.dim, "· answer it by its id, as shown above")]);
    return;
  }
  const answer = Object.hasOwn(ANSWERS, argument) ? ANSWERS[argument] : undefined;
  if (!answer) throw new HoldfastError("usage", "expected /approve yes, no, always or show");
  await desk.talk.answer(approval, answer.decision, answer.always);
}

function unfold(desk: Desk, argument: string): void {
  if (argument === "all" || argument === "none") {
    desk.view.unfolds = argument === "all";
    desk.print([desk.paint(STYLE.dim, `· tools are ${argument === "all" ? "expanded" : "collapsed"}`)]);
    return;
  }
  const lines = desk.view.unfold(argument === "" ? undefined : countOf(argument, 0));
  if (!lines)
    throw new HoldfastError("usage", argument === "" ? "no tool output to expand yet" : `there is no [${plain(argument)}] to expand`);
  desk.print(lines);
}

async function status(desk: Desk): Promise<void> {
  const { session, settings } = await desk.refresh();
  const rows: [string, string | null][] = [
    ["name", plain(session.name)],
    ["agent", plain(session.agent)],
    ["status", statusCell(session)],
    ["mode", settings?.mode ?? null],
    ["model", settings?.model ?? null],
    ["turns", String(session.turns)],
    ["directory", shortPath(session.cwd)],
    ["id", session.id],
    ["conversation", session.conversation],
  ];
  desk.print(rows.flatMap(([name, value]) => (value === null ? [] : [`  ${desk.paint(STYLE.dim, name.padEnd(13))}${plain(value)}`])));
}

async function context(desk: Desk): Promise<void> {
  const { session } = await desk.refresh();
  const fill = session.spent?.context ?? null;
  if (fill === null) {
    desk.print([desk.paint(STYLE.dim, "· the agent does not report its context usage")]);
    return;
  }
  const share = fill.size > 0 ? Math.min(1, fill.used / fill.size) : 0;
  const filled = Math.round(share * 20);
  const bar = fill.size > 0 ? `${"█".repeat(filled)}${"░".repeat(20 - filled)} ` : "";
  const warning = share >= 0.8 ? ["  the context is nearly full: /clear starts with an empty one"] : [];
  desk.print([`  ${bar}${contextText(fill)}`, ...warning]);
}

async function cost(desk: Desk): Promise<void> {
  const { session } = await desk.refresh();
  const turns = `${session.turns} ${session.turns === 1 ? "turn" : "turns"}`;
  const limits = session.budget ? [`  budget: ${budgetText(session.budget)}`] : [];
  if (session.spent === null) {
    desk.print([`  ${turns}; the agent does not report its tokens, so the cost is unknown`, ...limits]);
    return;
  }
  desk.print([`  ${turns}`, `  ${tokensText(session.spent)}`, `  ${costText(session.spent)}`, ...limits]);
}

async function conversationNames(desk: Desk): Promise<string[]> {
  const { sessions } = await desk.context.client.call("listSessions", { query: { all: true } });
  return sessions.filter(({ kind }) => kind === "conversation").map(({ name }) => name);
}

async function sessions(desk: Desk, argument: string): Promise<void> {
  if (argument !== "") {
    desk.goTo(argument);
    return;
  }
  const { sessions } = await desk.context.client.call("listSessions", { query: { all: true } });
  const rows = sessions
    .filter(({ kind }) => kind === "conversation")
    .map((session) => [
      `${session.id === desk.talk.id ? "●" : "○"} ${plain(session.name)}`,
      statusCell(session),
      plain(session.agent),
      String(session.turns),
      shortPath(session.cwd),
    ]);
  desk.print(columns(["  NAME", "STATUS", "AGENT", "TURNS", "DIRECTORY"], rows).split("\n"));
}

function needed(argument: string, usage: string): string {
  if (argument === "") throw new HoldfastError("usage", `expected ${usage}`);
  return argument;
}

function countOf(argument: string, otherwise: number): number {
  if (argument === "") return otherwise;
  if (!/^[1-9]\d{0,5}$/.test(argument)) throw new HoldfastError("usage", `${JSON.stringify(argument)} is not a number`);
  return Number(argument);
}
