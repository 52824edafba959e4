/** Tools that start, find and stop sessions. `agent` in their names means a session, including shells. */
import { HoldfastError } from "@holdfast/contract/errors";
import { newSessionId } from "@holdfast/contract/ids";
import { StatusSchema } from "@holdfast/contract/session/session";
import { SpawnRequest } from "@holdfast/contract/session/spawn-request";
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
      "Start another agent as your child, with a first prompt. It works in your directory or in its own git worktree, and keeps running when you end. You can send it messages, wait for it, read its output and stop it. Its answers come back to you as messages.",
    input: z.object({
      agent: say(
        z.optional(SpawnRequest.shape.agent),
        "agent name: claude, codex, gemini, qwen, opencode, …; list_agents with startable lists the installed ones; a persona may set it",
      ),
      prompt: say(z.optional(z.string()), "the first prompt: the task"),
      name: say(name, "session name; default: two readable words"),
      persona: say(persona, "persona name"),
      model: say(model, "model, if the agent offers a choice; only for conversations"),
      kind: say(
        z.optional(z.enum(["conversation", "terminal"])),
        "conversation (default): the agent runs over a protocol; terminal: the agent has a screen that people can attach to",
      ),
      cwd: say(z.optional(SpawnRequest.shape.cwd), "absolute path of the working directory; default: yours"),
      worktree: say(z._default(z.boolean(), false), "work in a new git worktree on its own branch"),
      groups: say(z.optional(z.array(z.string())), "groups to join at the start"),
      role: say(role, "role, for people to read"),
      objective: say(objective, "objective, for people to read; default: the first line of the prompt"),
      report: say(z.optional(z.boolean()), "false: its answers do not come back to you as messages"),
    }),
    async run({ agent = "", kind, worktree, ...more }, { client, place, signal }) {
      const body = { ...(await place()), ...more, agent, ...(worktree ? { worktree: { setup: true } } : {}) };
      // The id makes a request that is repeated after a daemon crash refer to the same session.
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
    description: "List the sessions you can reach: yourself and your descendants. With startable: the agents that can be started here.",
    reads: true,
    input: z.object({
      all: say(z._default(z.boolean(), false), "include ended sessions"),
      status: say(z.optional(z.array(StatusSchema)), "only sessions with one of these statuses"),
      startable: say(z._default(z.boolean(), false), "list the agents that can be started instead"),
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
    description: "Show one session: status, open approvals, progress, usage and its agent's last answer.",
    reads: true,
    input: z.object({ name: sessionRef }),
    async run({ name: ref }, { client }) {
      const session = await client.call("getSession", { params: { ref } });
      return { ...session, lastReply: await lastReply(client, session.id), approvals: await openApprovals(client, session.id) };
    },
  }),
  tool({
    name: "task_stop",
    description: "Stop a session, a shell or an agent, and every session it started. Returns when all their processes are gone.",
    input: z.object({
      name: sessionRef,
      tree: say(z._default(z.boolean(), true), "false: keep the sessions that it started running"),
      grace_ms: say(z._default(z.number().check(z.minimum(0), z.maximum(600_000)), 5000), "grace period before SIGKILL"),
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

/** Null if the reply is not known. */
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
