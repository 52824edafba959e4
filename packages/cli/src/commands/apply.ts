import { HoldfastError } from "@holdfast/contract/errors";
import { counted } from "@holdfast/platform/units";
import type { HoldfastClient } from "@holdfast/sdk/client";
import { carryOut } from "../apply/carry-out.ts";
import { checkSteps } from "../apply/check.ts";
import { compare } from "../apply/compare.ts";
import type { Plan } from "../apply/plan.ts";
import { readPlan } from "../apply/read-plan.ts";
import { type Comparison, isSeen, type Step } from "../apply/steps.ts";
import { leftLine, noteLines, stepLine, stepWords, unchangedLine } from "../apply/text.ts";
import { look } from "../apply/world.ts";
import type { Command, Context } from "../command.ts";
import { TRUST_FLAG, trusting } from "../workspace/trusting.ts";

export const command: Command = {
  name: "apply",
  summary: "create the sessions, groups and shared values declared in a file",
  section: "Start agents and commands",
  startsPrograms: true,
  usage: "FILE.toml [--dry-run] [--prune [--yes]] [--resume] [--trust]",
  description:
    'A file looks like this:\n\n  [groups.team]\n  limit = 8\n  goal = "ship 1.0"\n  coordinator = "lead"\n  context = { ports = [3000, 3001] }\n\n  [sessions.lead]\n  agent = "claude"\n  chat = true\n  group = "team"\n  prompt = "Plan the work, and give it to the others."\n\napply creates what is missing and changes what differs. It reports differences that cannot be changed. A second apply of the same file changes nothing.\n\nSessions and groups that others created stay untouched. If the file sets something that cannot be applied to them, apply refuses the file. --prune removes sessions and groups that an earlier apply created and the file no longer declares.',
  arguments: "files",
  flags: {
    "dry-run": { summary: "print the changes without making them" },
    prune: { summary: "remove what an earlier apply created and the file no longer declares; asks first" },
    yes: { short: "y", summary: "with --prune: do not ask for confirmation" },
    resume: { summary: "restart sessions that have ended, except those that are done" },
    trust: TRUST_FLAG,
  },
  examples: [
    ["holdfast apply team.toml --dry-run", "print the changes"],
    ["holdfast apply team.toml", "apply the file; a second time changes nothing"],
    ["holdfast apply team.toml --prune", "also remove what is no longer in the file, after confirmation"],
    ["holdfast apply team.toml --resume", "after a reboot: restart the sessions that have ended"],
    ["holdfast apply team.toml --json | jq '.steps[].do'", "for a script"],
  ],
  async run(context) {
    const { args, flags, client } = context;
    const [name, ...more] = args;
    if (name === undefined || more.length > 0)
      throw new HoldfastError("usage", "expected one file", { hint: "for example: holdfast apply team.toml" });
    const [prune, isDryRun] = [flags.has("prune"), flags.has("dry-run")];
    const isAsked = prune && !isDryRun && !flags.has("yes");
    if (isAsked && (context.json || !process.stdin.isTTY || !process.stdout.isTTY))
      throw new HoldfastError("usage", "confirmation needed; pass --yes", {
        hint: "preview with --dry-run, then pass --yes",
      });
    const plan = await readPlan(name);
    const find = () => planned(client, { name, plan, prune, resume: flags.has("resume") });
    const found = await (isDryRun ? find() : trusting(context, find));
    const comparison = isAsked ? await agreed(found) : found;
    return isDryRun ? tellOnly(context, { name, plan, comparison }) : act(context, { name, plan, comparison });
  },
};

/** An error may come from another apply of the same file that just ran. Retries until the same error repeats. */
async function planned(
  client: HoldfastClient,
  { name, plan, ...how }: { name: string; plan: Plan; prune: boolean; resume: boolean },
): Promise<Comparison> {
  for (let before: string | undefined; ; ) {
    const world = await look(client, plan);
    try {
      const found = compare(plan, world, how);
      await checkSteps(client, { name, plan, world, ...found });
      return found;
    } catch (error) {
      const { message } = HoldfastError.from(error);
      if (message === before) throw error;
      before = message;
    }
  }
}

type Applied = { name: string; plan: Plan; comparison: Comparison };

function tellOnly({ json }: Context, { name, plan, comparison }: Applied): number {
  const { steps } = comparison;
  if (json) return printJson(plan, { comparison, done: [], dryRun: true });
  for (const step of steps.filter(isSeen)) process.stdout.write(`${stepLine(step)}\n`);
  tellNotes(name, comparison);
  process.stdout.write(steps.some(isSeen) ? "Nothing was changed: --dry-run.\n" : `${unchangedLine(plan, name)}\n`);
  return 0;
}

async function act(context: Context, { name, plan, comparison }: Applied): Promise<number> {
  const { steps } = comparison;
  const done: Step[] = [];
  const started = new Set<string>();
  try {
    for (const step of steps) {
      await carryOut(context, plan, { step, started });
      done.push(step);
      if (!context.json && isSeen(step)) process.stdout.write(`${stepLine(step)}\n`);
    }
  } catch (error) {
    if (context.json) printJson(plan, { comparison, done, dryRun: false });
    throw cutOff(name, steps.slice(done.length), error);
  }
  if (context.json) return printJson(plan, { comparison, done, dryRun: false });
  tellNotes(name, comparison);
  const changes = done.filter(isSeen).length;
  process.stdout.write(changes === 0 ? `${unchangedLine(plan, name)}\n` : `${counted(changes, "change")}.\n`);
  return 0;
}

function tellNotes(name: string, { notes, left }: Comparison): void {
  for (const line of noteLines(notes, name)) process.stdout.write(`${line}\n`);
  if (left.length > 0) process.stdout.write(`${leftLine(left)}\n`);
}

/** Asks once for all removals. Without a yes, the other steps still run. */
async function agreed(found: Comparison): Promise<Comparison> {
  const goings = found.steps.filter(isGoing);
  if (goings.length === 0) return found;
  for (const step of goings) process.stdout.write(`${stepLine(step)}\n`);
  const { createInterface } = await import("node:readline/promises");
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    if (/^y(es)?$/i.test((await terminal.question(`Remove ${goings.length === 1 ? "this" : `these ${goings.length}`}? [y/N] `)).trim()))
      return found;
  } finally {
    terminal.close();
  }
  return { ...found, steps: found.steps.filter((step) => !isGoing(step)), left: goings };
}

function isGoing({ do: what }: Step): boolean {
  return what === "unset" || what === "remove_session" || what === "remove_group";
}

function printJson(plan: Plan, { comparison, done, dryRun }: { comparison: Comparison; done: readonly Step[]; dryRun: boolean }): number {
  const shape = (step: Step) => {
    // Values of variables may be secrets.
    if (step.do === "resume") return { ...step, env: step.env && Object.keys(step.env), done: done.includes(step) };
    if (step.do !== "start") return { ...step, done: done.includes(step) };
    const { request, groups, line } = step.planned;
    return {
      do: step.do,
      name: step.name,
      agent: request.agent,
      persona: request.persona ?? null,
      cwd: request.cwd,
      groups,
      line,
      done: done.includes(step),
    };
  };
  const steps = comparison.steps.filter(isSeen).map(shape);
  const left = comparison.left.map(shape);
  process.stdout.write(`${JSON.stringify({ file: plan.file, dryRun, steps, notes: comparison.notes, left })}\n`);
  return 0;
}

/** Most remaining steps named in the error. */
const MOST_LEFT = 10;

function cutOff(name: string, [step, ...rest]: readonly Step[], cause: unknown): HoldfastError {
  const { code, message, hint, candidates } = HoldfastError.from(cause);
  const again = `completed steps stay; after the fix, run: holdfast apply ${name}`;
  const left = [...(step?.do === "confirm" || !step ? [] : [step]), ...rest].filter(isSeen);
  const named = left.slice(0, MOST_LEFT).map((each) => `\n  ${stepWords(each)}`);
  const more = left.length > MOST_LEFT ? `\n  and ${left.length - MOST_LEFT} more` : "";
  const undone = left.length === 0 ? "" : `\nnot done:${named.join("")}${more}`;
  return new HoldfastError(code, `${!step || step.do === "confirm" ? "" : `${stepText(step)}: `}${message}${undone}`, {
    hint: hint === undefined ? again : `${hint}; ${again}`,
    ...(candidates ? { candidates } : {}),
    cause,
  });
}

function stepText(step: Exclude<Step, { do: "confirm" }>): string {
  if (step.do === "remember") return step.declaration.name;
  return "name" in step ? step.name : "key" in step ? `${step.key} of ${step.group}` : step.group;
}
