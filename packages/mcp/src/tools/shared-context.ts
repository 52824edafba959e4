/** Shared values of a group, which members can change without losing each other's changes. */
import * as z from "zod/mini";
import { patience, say, tool, USUAL_WAIT_MS } from "../tool.ts";
import { isPassing } from "../waiting.ts";
import { group } from "./groups.ts";

const key = say(z.string(), "the key");
const ifRevision = say(
  z.optional(z.number().check(z.minimum(0))),
  "write only if the value has this revision (0: does not exist); otherwise refused with the current value",
);

/** Longest wait of a single request; the client then repeats it. */
const ONE_WAIT_MS = 10_000;
const AGAIN_MS = 200;

export const SHARED_CONTEXT_TOOLS = [
  tool({
    name: "share_context",
    description:
      "Share a value with your group under a key: any JSON, at most 64 KB. To change a value that others change too, read it first and pass its revision as if_revision: a stale write is refused with the current value.",
    input: z.object({ group, key, value: say(z.unknown(), "any JSON"), if_revision: ifRevision }),
    run: ({ group: path, key: name, value = null, if_revision: revision }, { client }) =>
      client.call("shareValue", {
        params: { group: path, key: name },
        body: { value, ...(revision === undefined ? {} : { ifRevision: revision }) },
      }),
  }),
  tool({
    name: "get_shared_context",
    description: "Read a shared value: the group's own, or the nearest one above it. Includes its revision, author and time.",
    reads: true,
    input: z.object({ group, key }),
    run: ({ group: path, key: name }, { client }) => client.call("getValue", { params: { group: path, key: name } }),
  }),
  tool({
    name: "list_shared_context",
    description: "List the shared keys of a group and of those above it, with revision, author and size.",
    reads: true,
    input: z.object({ group }),
    run: ({ group: path }, { client }) => client.call("listValues", { params: { group: path } }),
  }),
  tool({
    name: "delete_shared_context",
    description: "Remove a shared value. Readers of the key then get the value of a group above it, if there is one.",
    input: z.object({ group, key, if_revision: ifRevision }),
    run: ({ group: path, key: name, if_revision: revision }, { client }) =>
      client.call("unsetValue", { params: { group: path, key: name }, query: revision === undefined ? {} : { ifRevision: revision } }),
  }),
  tool({
    name: "watch_context",
    description:
      "Wait until values of a group, or of those above it, change. Returns the newest change of each key after the revision after, and the revision for the next call; empty on timeout.",
    reads: true,
    input: z.object({
      group,
      after: say(z.optional(z.number().check(z.minimum(0))), "revision of the last result; default: only new changes"),
      timeout_ms: patience(USUAL_WAIT_MS, "maximum wait"),
    }),
    async run({ group: path, after, timeout_ms: timeoutMs }, { client, signal, tell }) {
      const deadline = performance.now() + timeoutMs;
      let since = after ?? (await client.call("listValues", { params: { group: path } })).revision;
      for (;;) {
        const waitMs = Math.max(0, Math.min(ONE_WAIT_MS, Math.ceil(deadline - performance.now())));
        try {
          const news = await client.call("watchValues", { params: { group: path }, query: { after: since, waitMs } }, signal);
          since = news.revision;
          if (news.changes.length > 0 || performance.now() >= deadline) return news;
          tell(`nothing has changed in ${path} since revision ${since}`);
        } catch (error) {
          if (signal.aborted || !isPassing(error)) throw error;
          await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
        }
      }
    },
  }),
];
