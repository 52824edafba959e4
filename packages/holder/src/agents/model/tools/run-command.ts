import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import * as z from "zod/mini";
import { start } from "../../command.ts";
import { MOST_BYTES } from "./limits.ts";
import { defineTool } from "./tool.ts";

const USUAL_S = 120;
const LONGEST_S = 3600;
const LONGEST_TITLE = 160;

export const runCommand = defineTool({
  name: "run_command",
  description: `Runs a shell command (sh -c) in the session's directory, without input. It is ended after \`timeout\` seconds (default ${USUAL_S}, at most ${LONGEST_S}).`,
  kind: "execute",
  leave: "execute",
  input: z.strictObject({
    command: z.string().check(z.minLength(1)),
    timeout: z.optional(z.int().check(z.positive(), z.maximum(LONGEST_S))),
  }),
  title: ({ command }) => atAGlance(command),
  async prepare({ command, timeout = USUAL_S }, root) {
    return {
      files: [],
      changes: [],
      async run(signal) {
        const late = AbortSignal.timeout(timeout * 1000);
        const { stdout, stderr, ended } = start({
          command: ["/bin/sh", "-c", command],
          cwd: root,
          signal: AbortSignal.any([signal, late]),
        });
        const output = endsOf([stdout, stderr]);
        const { code, signal: by } = await ended;
        await Promise.all([stdout, stderr].map((stream) => finished(stream).catch(() => {})));
        const how = late.aborted ? `ended after ${timeout} s` : by === null ? `exit code ${code}` : `ended by ${by}`;
        return { text: `${output()}[${how}]`, ok: code === 0 && !late.aborted };
      },
    };
  },
});

/** The input has the complete command. */
function atAGlance(command: string): string {
  const [line = "", ...more] = command.trim().split("\n");
  return line.length > LONGEST_TITLE || more.length > 0 ? `${line.slice(0, LONGEST_TITLE)} …` : line;
}

/** The beginning and the end of the output, with a note of how many bytes are omitted between them. */
function endsOf(streams: readonly Readable[]): () => string {
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  let all = 0;
  const half = MOST_BYTES / 2;
  for (const stream of streams)
    stream.on("data", (chunk: Buffer) => {
      const toHead = Math.max(0, half - head.length);
      if (toHead > 0) head = Buffer.concat([head, chunk.subarray(0, toHead)]);
      tail = Buffer.concat([tail, chunk.subarray(toHead)]).subarray(-half);
      all += chunk.length;
    });
  return () => {
    const missing = all - head.length - tail.length;
    const text = missing > 0 ? `${head}\n[${missing} bytes are omitted here.]\n${tail}` : `${Buffer.concat([head, tail])}`;
    return text === "" || text.endsWith("\n") ? text : `${text}\n`;
  };
}
