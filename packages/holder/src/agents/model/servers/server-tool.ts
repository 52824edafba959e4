/** Wraps a server's tool as one of the agent's tools, with a name that every model accepts and the server's own description. */
import { createHash } from "node:crypto";
import { serverPrefix, toolWord } from "@holdfast/contract/agent/tool-names";
import * as z from "zod/mini";
import type { AgentTool } from "../tools/tool.ts";
import type { Progress, Tool } from "./mcp-client.ts";
import type { Server } from "./server.ts";

/** Some models accept no longer names. */
const LONGEST_NAME = 64;
const HASH_CHARS = 6;
const LONGEST_TITLE = 160;
/** Nobody reads more of them, and each update repeats all before it. */
const MOST_PROGRESS = 100;

/** `taken`: the names in use; the tool's name is added. */
export function serverTool(server: Server, listed: Tool, taken: Set<string>): AgentTool {
  const { name, description = "", inputSchema, annotations } = listed;
  const reads = annotations?.readOnlyHint === true;
  return {
    name: nameFor(`${serverPrefix(server.name)}${toolWord(name)}`, `${server.name} ${name}`, taken),
    description,
    kind: "other",
    input: z.looseObject({}),
    schema: inputSchema,
    ...(reads ? {} : { leave: "use" as const }),
    title: (input) => atAGlance(`${server.name}: ${name} ${JSON.stringify(input)}`),
    async prepare(input) {
      return {
        files: [],
        changes: [],
        async run(signal, tell) {
          const steps: string[] = [];
          const onProgress = (progress: Progress) => {
            if (steps.length === MOST_PROGRESS) return;
            steps.push(stepOf(progress));
            tell(steps.join("\n"));
          };
          return server.call({ name, input }, { signal, onProgress });
        },
      };
    },
  };
}

function nameFor(wanted: string, whole: string, taken: Set<string>): string {
  const isFree = wanted.length <= LONGEST_NAME && !taken.has(wanted);
  const hash = createHash("sha256").update(whole).digest("hex").slice(0, HASH_CHARS);
  const name = isFree ? wanted : `${wanted.slice(0, LONGEST_NAME - HASH_CHARS - 1)}_${hash}`;
  taken.add(name);
  return name;
}

function stepOf({ progress, total, message }: Progress): string {
  return message ?? (total === undefined ? `${progress}` : `${progress} of ${total}`);
}

function atAGlance(text: string): string {
  return text.length > LONGEST_TITLE ? `${text.slice(0, LONGEST_TITLE)} …`.toWellFormed() : text;
}
