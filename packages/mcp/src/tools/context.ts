/** The Working Context that travels from one agent to the next, and how far somebody is. */
import { LONGEST_CONTEXT } from "@holdfast/contract/context";
import { HoldfastError } from "@holdfast/contract/errors";
import { CONTEXT_FILES } from "@holdfast/contract/status";
import * as z from "zod/mini";
import { brief } from "../brief.ts";
import { meant } from "../self.ts";
import { say, tool } from "../tool.ts";

const of = say(z.optional(z.string()), "a session or a workspace; yours without");

/** How often a line is added anew to a file that somebody else changes at the same moment. */
const MOST_TRIES = 5;

export const CONTEXT_TOOLS = [
  tool({
    name: "read_working_context",
    description:
      "The Working Context where you work: background.md, plan.md, working-log.md and results-summary.md, which pass from one agent to the next. digest is for update_working_context.",
    reads: true,
    input: z.object({ of, file: say(z.optional(z.enum(CONTEXT_FILES)), "only this one") }),
    async run({ of: ref, file }, { client, self }) {
      const { root, files } = await client.call("getContext", { query: { of: meant(ref, await self()) } });
      const wanted = files.filter(({ name }) => file === undefined || name === file);
      return { root, files: wanted.map(({ name, state, text, cut, digest }) => ({ name, state, text, ...(cut ? { cut } : {}), digest })) };
    },
  }),
  tool({
    name: "update_working_context",
    description:
      "Write a file of the Working Context, or add to its end. With the digest of what you have read, it is refused when somebody has changed the file since.",
    input: z.object({
      of,
      file: say(z.enum(CONTEXT_FILES), "which"),
      text: say(z.string().check(z.maxLength(LONGEST_CONTEXT)), "its new text, or with append what to add"),
      append: say(z._default(z.boolean(), false), "add it to the end"),
      digest: say(z.optional(z.nullable(z.string())), "of what you have read; null: it must not be there yet"),
    }),
    async run({ of: ref, file, text, append, digest }, { client, self }) {
      const target = meant(ref, await self());
      const write = (whole: string, read: string | null | undefined) =>
        client.call("writeContext", {
          body: { of: target, write: { file, text: whole, ...(read === undefined ? {} : { digest: read }) } },
        });
      for (let tries = 1; ; tries++) {
        const before = append
          ? (await client.call("getContext", { query: { of: target } })).files.find(({ name }) => name === file)
          : undefined;
        const whole = before?.text ? `${before.text.replace(/\n*$/, "\n")}${text}` : text;
        try {
          const { root, files } = await write(whole, append && digest === undefined ? (before?.digest ?? null) : digest);
          return { root, file, digest: files.find(({ name }) => name === file)?.digest ?? null };
        } catch (error) {
          const isRace = append && digest === undefined && error instanceof HoldfastError && error.code === "context_changed";
          if (!isRace || tries === MOST_TRIES) throw error;
        }
      }
    },
  }),
  tool({
    name: "report_progress",
    description: "Say how far you are: what you do now, and how much of how much is done. People and your parent see it.",
    input: z.object({
      text: say(z.string().check(z.minLength(1), z.maxLength(2000)), "what you do now, in a line"),
      done: say(z.optional(z.number().check(z.minimum(0))), "how much is done"),
      total: say(z.optional(z.number().check(z.minimum(0))), "of how much"),
    }),
    async run(body, { client, self }) {
      const session = await client.call("reportProgress", { params: { ref: meant(undefined, await self()) }, body });
      return brief(session);
    },
  }),
];
