/** Carries out one step. Every step is idempotent, so an apply can follow one that was killed, or run beside another. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { Context } from "../command.ts";
import { callerEnvironment, printNotes } from "../session/start.ts";
import { withProgress } from "../workspace/progress.ts";
import type { Plan, PlannedSession } from "./plan.ts";
import { fingerprint } from "./read-plan.ts";
import type { Step } from "./steps.ts";

/** Grace period for stopping a session that the file no longer has. */
const GRACE_MS = 5000;

/** `started`: names of the sessions that this apply started. */
export async function carryOut(context: Context, plan: Plan, { step, started }: { step: Step; started: Set<string> }): Promise<void> {
  const { client } = context;
  switch (step.do) {
    case "create_group":
      return unless("group_exists", () =>
        client.call("createGroup", {
          body: {
            path: step.group,
            ...(step.limit === null ? {} : { limit: step.limit }),
            ...(step.goal === null ? {} : { goal: step.goal }),
          },
        }),
      );
    case "change_limit":
      await client.call("changeGroup", { params: { group: step.group }, body: { limit: step.to } });
      return;
    case "change_goal":
      await client.call("changeGroup", { params: { group: step.group }, body: { goal: step.to } });
      return;
    case "share": {
      const { group, key, value, ifRevision } = step;
      const isSame = async () => fingerprint((await client.call("getValue", { params: { group, key } })).value) === fingerprint(value);
      return unless("stale_value", () => client.call("shareValue", { params: { group, key }, body: { value, ifRevision } }), isSame);
    }
    case "start":
      return unless(
        "name_taken",
        async () => {
          await start(context, plan, step);
          started.add(step.name);
        },
        () => isOurs(context, plan, step.name),
      );
    case "resume":
      await client.call("resumeSession", { params: { ref: step.session }, body: step.env === null ? {} : { env: { ...step.env } } });
      return;
    case "set_budget":
      await client.call("setBudget", { params: { ref: step.session }, body: step.budget });
      return;
    case "join":
      await client.call("joinGroup", { params: { group: step.group }, body: { sessions: [step.session] } });
      return;
    case "leave":
      return unless("not_a_member", () => client.call("leaveGroup", { params: { group: step.group, ref: step.session } }));
    case "choose": {
      const { model, mode } = step;
      await client.call("setConversation", { params: { ref: step.session }, body: { model, mode } });
      return;
    }
    case "confirm":
      // Another apply confirms the sessions that it started itself.
      return confirm(
        context,
        plan,
        step.chosen.filter(({ name }) => started.has(name)),
      );
    case "set_coordinator":
      await client.call("setCoordinator", { params: { group: step.group }, body: { session: step.name } });
      return;
    case "remember":
      await client.call("declare", { body: step.declaration });
      return;
    case "unset": {
      const { group, key, ifRevision } = step;
      await unless("value_not_found", () => client.call("unsetValue", { params: { group, key }, query: { ifRevision } }));
      await client.call("forgetDeclared", { body: { file: plan.file, what: "value", ref: group, key } });
      return;
    }
    case "remove_session":
      if (!step.ended)
        await unless("session_ended", () => client.call("stopSession", { params: { ref: step.session }, body: { graceMs: GRACE_MS } }));
      return unless("session_not_found", () => client.call("removeSession", { params: { ref: step.session } }));
    case "remove_group":
      return unless("group_not_found", () => client.call("removeGroup", { params: { group: step.group }, query: {} }));
  }
}

type Start = Extract<Step, { do: "start" }>;

async function start(context: Context, { file }: Plan, { planned, peers }: Start): Promise<void> {
  const { request, said } = planned;
  // Only the agent knows whether it accepts the model and mode. They are recorded once it does; until then the next apply sets them again.
  const { model: _, mode: __, ...sure } = said;
  const plan = { file, said: request.chat ? sure : said, peers: [...peers] };
  const spawn = () => context.client.call("spawn", { body: { ...spawnBody(planned), plan } });
  const session = await (request.worktree ? withProgress(context, spawn) : spawn());
  if (!context.json) printNotes(session.notes?.map((note) => `${session.name}: ${note}`));
}

export function spawnBody({ name, request, env, groups }: PlannedSession) {
  return { ...request, name, env: { ...callerEnvironment(), ...env }, umask: process.umask(), groups: [...groups] };
}

async function confirm({ client }: Context, { file }: Plan, chosen: readonly PlannedSession[]): Promise<void> {
  const refused: HoldfastError[] = [];
  for (const { name, request, said } of chosen) {
    const { model, mode } = request;
    try {
      const { session, settings } = await client.call("getConversation", { params: { ref: name } });
      const isSo = (model ?? settings?.model) === settings?.model && (mode ?? settings?.mode) === settings?.mode;
      if (!settings || !isSo) await client.call("setConversation", { params: { ref: session.id }, body: { model, mode } });
      await client.call("declare", { body: { file, what: "session", ref: session.id, key: null, name, said } });
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      refused.push(new HoldfastError(error.code, `${name} was started, but ${error.message}`, { hint: error.hint, cause: error }));
    }
  }
  const [first] = refused;
  if (!first) return;
  const hint = first.hint ?? "correct the file and apply it again; running sessions are not started twice";
  throw new HoldfastError(first.code, refused.map(({ message }) => message).join("\n"), { hint, cause: first });
}

async function isOurs({ client }: Context, { file }: Plan, name: string): Promise<boolean> {
  const { declared } = await client.call("listDeclared", { query: { file } });
  return declared.some((each) => each.what === "session" && each.name === name);
}

/** Ignores an error with `code`, which means that the step is already done; `isSo` verifies this where needed. */
async function unless(code: string, act: () => Promise<unknown>, isSo: () => Promise<boolean> = async () => true): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== code || !(await isSo())) throw error;
  }
}
