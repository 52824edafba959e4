/** Sessions: starting, finding and ending them. `agent` in the names of these tools means a session, shells included. */
import { HoldfastError } from "@holdfast/contract/errors";
import { newSessionId } from "@holdfast/contract/ids";
import { StatusSchema } from "@holdfast/contract/session";
import { SpawnRequest } from "@holdfast/contract/spawn-request";
import type { HoldfastClient } from "@holdfast/sdk/client";
import { surely } from "@holdfast/sdk/follow";
import * as z from "zod/mini";
import { brief } from "../brief.ts";
import { say, sessionRef, tool } from "../tool.ts";

const { name, role, objective, persona, model } = SpawnRequest.shape;

export const SESSION_TOOLS = [
  tool({
    name: "spawn_agent",
    description:
      "Start another agent as a child of yours, with a first prompt. It works in your directory, or in a git worktree of its own, and goes on when you end. You can send it messages, wait for it, read what it says and stop it; what it answers comes back to you as a message.",
    input: z.object({
      agent: say(
        z.optional(SpawnRequest.shape.agent),
        "which agent: claude, codex, gemini, qwen, opencode, …; list_agents with startable tells which are here; a persona may say it",
      ),
      prompt: say(z.optional(z.string()), "what it is to do: its first prompt"),
      name: say(name, "what to call it; two readable words without"),
      persona: say(persona, "a role by its name"),
      model: say(model, "the model, where the agent offers a choice; only of a conversation"),
      kind: say(
        z.optional(z.enum(["conversation", "terminal"])),
        "conversation: it is talked to in a protocol, which is the usual; terminal: it has a screen that people can attach to",
      ),
      cwd: say(z.optional(SpawnRequest.shape.cwd), "the directory to work in, absolute; yours without"),
      worktree: say(z._default(z.boolean(), false), "in a git worktree of its own, on a branch of its own"),
      groups: say(z.optional(z.array(z.string())), "groups that it joins from the start"),
      role: say(role, "what part it plays, for people"),
      objective: say(objective, "what it is to achieve, for people; the first line of the prompt without"),
      report: say(z.optional(z.boolean()), "false: what it answers does not come back to you as a message"),
    }),
    async run({ agent = "", kind, worktree, ...more }, { client, place, signal }) {
      const body = { ...(await place()), ...more, agent, ...(worktree ? { worktree: { setup: true } } : {}) };
      // With an id of its own, what is asked again because the daemon died is the same session.
      const id = newSessionId();
      const start = (chat: boolean) => surely(() => client.call("spawn", { body: { ...body, id, chat } }, signal), signal);
      const session = await start(kind !== "terminal").catch((error: unknown) => {
        if (kind === undefined && error instanceof HoldfastError && error.code === "not_offered") return start(false);
        throw error;
      });
      return { ...brief(session), notes: session.notes };
    },
  }),
  tool({
    name: "list_agents",
    description: "Sessions that you reach: yourself, your children and theirs. With startable: the agents that could be started here.",
    reads: true,
    input: z.object({
      all: say(z._default(z.boolean(), false), "also those that have ended"),
      status: say(z.optional(z.array(StatusSchema)), "only those with one of these"),
      startable: say(z._default(z.boolean(), false), "tell which agents can be started instead"),
    }),
    async run({ all, status, startable }, { client, self }) {
      if (startable) return startableHere(client);
      const { sessions } = await client.call("listSessions", { query: { all, ...(status ? { status } : {}) } });
      const { session } = await self();
      return { you: sessions.find(({ id }) => id === session)?.name ?? null, sessions: sessions.map(brief) };
    },
  }),
  tool({
    name: "show_agent",
    description: "One session in whole: status, what it waits for, progress, usage, and the last thing its agent said.",
    reads: true,
    input: z.object({ name: sessionRef }),
    async run({ name: ref }, { client }) {
      const session = await client.call("getSession", { params: { ref } });
      return { ...session, lastReply: await lastReply(client, session.id), approvals: await openApprovals(client, session.id) };
    },
  }),
  tool({
    name: "task_stop",
    description: "Stop a session: a shell, an agent, and with it all that it started. Answers when every process of them is gone.",
    input: z.object({
      name: sessionRef,
      tree: say(z._default(z.boolean(), true), "false: leave the sessions that it started alone"),
      grace_ms: say(z._default(z.number().check(z.minimum(0), z.maximum(600_000)), 5000), "how long they get to end by themselves"),
    }),
    async run({ name: ref, tree, grace_ms: graceMs }, { client }) {
      const { session, killed, tree: others } = await client.call("stopSession", { params: { ref }, body: { graceMs, tree } });
      return {
        ...brief(session),
        stopped: [session, ...others.map((each) => each.session)].map((each) => each.name),
        killed: [...killed, ...others.flatMap((each) => each.killed)],
      };
    },
  }),
];

async function startableHere(client: HoldfastClient): Promise<object> {
  const { agents } = await client.call("listAgents", {});
  return {
    agents: agents.flatMap(({ name: agent, description, path, structured }) =>
      path === null && structured === null ? [] : [{ agent, description, converses: structured !== null }],
    ),
  };
}

/** What nobody knows is null. */
async function lastReply(client: HoldfastClient, ref: string): Promise<string | null> {
  try {
    const { reply } = await client.call("getLastReply", { params: { ref } });
    return reply;
  } catch (error) {
    if (error instanceof HoldfastError && error.httpStatus < 500) return null;
    throw error;
  }
}

async function openApprovals(client: HoldfastClient, session: string): Promise<object[]> {
  const { approvals } = await client.call("listApprovals", { query: { session } });
  return approvals.map(({ id, for: what, tool: used, input, text, title, changes, digest, answers }) => {
    return { id, for: what, tool: used, input, text, title, changes, digest, answers };
  });
}
