/** The Working Context, which passes from one agent to the next, and progress reports. */
import { LONGEST_CONTEXT } from "@holdfast/contract/context/context";
import { CONTEXT_FILES } from "@holdfast/contract/context/enums";
import { HoldfastError } from "@holdfast/contract/errors";
import * as z from "zod/mini";
import { brief } from "../brief.ts";
import { meant } from "../self.ts";
import { say, tool } from "../tool.ts";

const of = say(z.optional(z.string()), "a session or a workspace; default: yours");

/** Attempts to append to a file that others change at the same time. */
const MOST_TRIES = 5;

export const CONTEXT_TOOLS = [
  tool({
    name: "read_working_context",
    description:
      "Read the Working Context of your directory: background.md, plan.md, working-log.md and results-summary.md, which pass from one agent to the next. Pass digest to update_working_context.",
    reads: true,
    input: z.object({ of, file: say(z.optional(z.enum(CONTEXT_FILES)), "only this file") }),
    async run({ of: ref, file }, { client, self }) {
      const { root, files } = await client.call("getContext", { query: { of: meant(ref, await self()) } });
      const wanted = files.filter(({ name }) => file === undefined || name === file);
      return { root, files: wanted.map(({ name, state, text, cut, digest }) => ({ name, state, text, ...(cut ? { cut } : {}), digest })) };
    },
  }),
  tool({
    name: "update_working_context",
    description:
      "Write a file of the Working Context, or append to it. With the digest of the text you read, the write is refused if the file has changed since.",
    input: z.object({
      of,
      file: say(z.enum(CONTEXT_FILES), "which"),
      text: say(z.string().check(z.maxLength(LONGEST_CONTEXT)), "the new text, or with append the text to add"),
      append: say(z._default(z.boolean(), false), "append the text"),
      digest: say(z.optional(z.nullable(z.string())), "digest of the text you read; null: the file must not exist yet"),
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
    description: "Report your progress: your current activity, and the completed share. People and your parent see it.",
    input: z.object({
      text: say(z.string().check(z.minLength(1), z.maxLength(2000)), "your current activity, in one line"),
      done: say(z.optional(z.number().check(z.minimum(0))), "completed units"),
      total: say(z.optional(z.number().check(z.minimum(0))), "total units"),
    }),
    async run(body, { client, self }) {
      const session = await client.call("reportProgress", { params: { ref: meant(undefined, await self()) }, body });
      return brief(session);
    },
  }),
];
