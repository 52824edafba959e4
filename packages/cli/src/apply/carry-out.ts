/** Does one step. Done twice, as by an apply after one that was killed or beside another, each leaves what one leaves. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { Context } from "../command.ts";
import { callerEnvironment } from "../start-session.ts";
import { withProgress } from "../workspace-progress.ts";
import type { Plan, PlannedSession } from "./plan.ts";
import { fingerprint } from "./read-plan.ts";
import type { Step } from "./steps.ts";

/** For what a step may find done already. */
const GRACE_MS = 5000;

export async function carryOut(context: Context, plan: Plan, step: Step): Promise<void> {
  const { client } = context;
  switch (step.do) {
    case "create_group":
      return unless("group_exists", () =>
        client.call("createGroup", { body: { path: step.group, ...(step.limit === null ? {} : { limit: step.limit }) } }),
      );
    case "change_limit":
      await client.call("changeGroup", { params: { group: step.group }, body: { limit: step.to } });
      return;
    case "share": {
      const { group, key, value, ifRevision } = step;
      const isSame = async () => fingerprint((await client.call("getValue", { params: { group, key } })).value) === fingerprint(value);
      return unless("stale_value", () => client.call("shareValue", { params: { group, key }, body: { value, ifRevision } }), isSame);
    }
    case "start":
      return unless(
        "name_taken",
        () => start(context, plan, step.planned),
        () => isOurs(context, plan, step.name),
      );
    case "resume":
      await client.call("resumeSession", { params: { ref: step.session }, body: {} });
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

async function start(context: Context, { file }: Plan, { name, request, env, groups, said }: PlannedSession): Promise<void> {
  const body = {
    ...request,
    name,
    env: { ...callerEnvironment(), ...env },
    umask: process.umask(),
    groups: [...groups],
    plan: { file, said },
  };
  const spawn = () => context.client.call("spawn", { body });
  await (request.worktree ? withProgress(context, spawn) : spawn());
}

async function isOurs({ client }: Context, { file }: Plan, name: string): Promise<boolean> {
  const { declared } = await client.call("listDeclared", { query: { file } });
  return declared.some((each) => each.what === "session" && each.name === name);
}

/** What it is there for is so already, also where that has to be looked at. */
async function unless(code: string, act: () => Promise<unknown>, isSo: () => Promise<boolean> = async () => true): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== code || !(await isSo())) throw error;
  }
}
