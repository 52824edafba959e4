/** Commands in the background. They are ordinary sessions whose output is read by offset. */
import { newSessionId } from "@holdfast/contract/ids";
import { SpawnRequest } from "@holdfast/contract/session/spawn-request";
import type { HoldfastClient } from "@holdfast/sdk/client";
import { surely } from "@holdfast/sdk/follow";
import * as z from "zod/mini";
import { plainText, unfinished } from "../lines.ts";
import { patience, say, sessionRef, tool } from "../tool.ts";
import { eventually } from "../waiting.ts";

/** A size that a model can read at once. */
const USUAL_BYTES = 30_000;
const MOST_BYTES = 1_000_000;

/** Output that follows within this time is returned together. */
const MORE_MS = 100;

export const SHELL_TOOLS = [
  tool({
    name: "run_shell",
    description:
      "Run a command in its own shell in the background: a server, a build, a test run. It keeps running after this call and after you end. Returns its name, and with wait_ms its output so far. Read more with shell_output; end it with task_stop.",
    input: z.object({
      command: say(z.string().check(z.minLength(1), z.maxLength(100_000)), "the command, as for sh -c"),
      name: say(SpawnRequest.shape.name, "session name; default: two readable words"),
      cwd: say(z.optional(SpawnRequest.shape.cwd), "absolute path of the directory; default: yours"),
      wait_ms: patience(0, "how long to wait for its end"),
    }),
    async run({ command, name, cwd, wait_ms: waitMs }, { client, place, signal, tell }) {
      const body = {
        // The id makes a request that is repeated after a daemon crash refer to the same session.
        id: newSessionId(),
        ...(await place()),
        agent: "shell",
        command: ["sh", "-c", command],
        ...(name === undefined ? {} : { name }),
        ...(cwd === undefined ? {} : { cwd }),
      };
      const session = await surely(() => client.call("spawn", { body }, signal), signal);
      if (waitMs > 0) {
        tell(`${session.name} runs`);
        const over = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
        const look = async () => {
          const { cursor, sessions } = await client.call("listSessions", { query: { names: [session.id] } });
          return { cursor, found: sessions[0]?.endedAt ?? undefined };
        };
        await eventually(client, { look, over, session: session.id, types: ["session.ended", "session.removed"] });
      }
      return { ...(await outputOf(client, { ref: session.id, from: 0, waitMs: 0, most: USUAL_BYTES, signal })), id: session.id };
    },
  }),
  tool({
    name: "shell_output",
    description:
      "Read the output of a shell or a terminal agent from an offset. Pass next as from to read only new output. With wait_ms the call waits for new output.",
    reads: true,
    input: z.object({
      name: sessionRef,
      from: say(z._default(z.number().check(z.minimum(0)), 0), "byte offset: next of the last result"),
      wait_ms: patience(0, "how long to wait if there is no new output"),
      max_bytes: say(
        z._default(z.number().check(z.minimum(1), z.maximum(MOST_BYTES)), USUAL_BYTES),
        "maximum size; next is the offset of the rest",
      ),
    }),
    run: ({ name: ref, from, wait_ms: waitMs, max_bytes: most }, { client, signal }) =>
      outputOf(client, { ref, from, waitMs, most, signal }),
  }),
];

interface Reading {
  ref: string;
  from: number;
  waitMs: number;
  most: number;
  signal: AbortSignal;
}

export async function outputOf(client: HoldfastClient, { ref, from: asked, waitMs, most, signal }: Reading) {
  const recording = await client.call("getRecording", { params: { ref } }, signal);
  const from = Math.min(Math.max(asked, recording.begins), recording.bytes);
  const isQuiet = from >= recording.bytes && !recording.ended && waitMs > 0;
  const bytes = await read(client, { ref: recording.session, from, waitMs: isQuiet ? waitMs : 0, most, signal });
  const now = await client.call("getSession", { params: { ref: recording.session } });
  const isWhole = now.endedAt !== null && from + bytes.length >= (await client.call("getRecording", { params: { ref } })).bytes;
  const whole = bytes.subarray(0, bytes.length - (isWhole ? 0 : unfinished(bytes)));
  const { name, status, exit, endedAt } = now;
  return {
    name,
    status,
    output: plainText(new TextDecoder().decode(whole)),
    from,
    next: from + whole.length,
    ...(from > asked ? { skipped: from - asked } : {}),
    ended: endedAt !== null,
    ...(endedAt === null ? {} : { exit }),
  };
}

/** Reads up to `most` bytes. With a wait, returns shortly after the first output. */
async function read(client: HoldfastClient, { ref, from, waitMs, most, signal }: Reading): Promise<Uint8Array> {
  const enough = new AbortController();
  const follow = waitMs > 0;
  const over = AbortSignal.any([signal, enough.signal, ...(follow ? [AbortSignal.timeout(waitMs)] : [])]);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of await client.bytes({ params: { ref }, query: { from, ...(follow ? { follow } : {}) } }, over)) {
    if (follow && size === 0) setTimeout(() => enough.abort(), MORE_MS);
    chunks.push(chunk);
    size += chunk.length;
    if (size >= most) break;
  }
  return Buffer.concat(chunks).subarray(0, most);
}
