/** Values that the members of a group share, and change without losing each other's changes. */
import * as z from "zod/mini";
import { patience, say, tool, USUAL_WAIT_MS } from "../tool.ts";
import { isPassing } from "../waiting.ts";
import { group } from "./groups.ts";

const key = say(z.string(), "the key");
const ifRevision = say(
  z.optional(z.number().check(z.minimum(0))),
  "only while the value has this revision, 0: while there is none; else refused with the current one",
);

/** The daemon answers a wait of this length by itself; then it is asked again. */
const ONE_WAIT_MS = 10_000;
const AGAIN_MS = 200;

export const SHARED_CONTEXT_TOOLS = [
  tool({
    name: "share_context",
    description:
      "Share a value with your group under a key: any JSON, at most 64 KB. To change one that others change too, read it, and give its revision as if_revision: a stale write is refused with the current value.",
    input: z.object({ group, key, value: say(z.unknown(), "any JSON"), if_revision: ifRevision }),
    run: ({ group: path, key: name, value = null, if_revision: revision }, { client }) =>
      client.call("shareValue", {
        params: { group: path, key: name },
        body: { value, ...(revision === undefined ? {} : { ifRevision: revision }) },
      }),
  }),
  tool({
    name: "get_shared_context",
    description:
      "A value that is shared: of the group, or of the nearest above it that has the key. With its revision, its author and time.",
    reads: true,
    input: z.object({ group, key }),
    run: ({ group: path, key: name }, { client }) => client.call("getValue", { params: { group: path, key: name } }),
  }),
  tool({
    name: "list_shared_context",
    description: "The keys that are shared in a group and in those above it, with revision, author and size.",
    reads: true,
    input: z.object({ group }),
    run: ({ group: path }, { client }) => client.call("listValues", { params: { group: path } }),
  }),
  tool({
    name: "delete_shared_context",
    description: "Take a shared value away; who asks for the key then gets that of a group above, where one has it.",
    input: z.object({ group, key, if_revision: ifRevision }),
    run: ({ group: path, key: name, if_revision: revision }, { client }) =>
      client.call("unsetValue", { params: { group: path, key: name }, query: revision === undefined ? {} : { ifRevision: revision } }),
  }),
  tool({
    name: "watch_context",
    description:
      "Wait until values of a group, or of those above it, change. Gives the newest change of each key since the revision after, and the revision to ask after next; nothing when the time is over.",
    reads: true,
    input: z.object({
      group,
      after: say(z.optional(z.number().check(z.minimum(0))), "the revision of the last result; without it, from now on"),
      timeout_ms: patience(USUAL_WAIT_MS, "how long to wait at most"),
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
