import { HoldfastError } from "@holdfast/contract/errors";
import type { Home } from "@holdfast/platform/home";
import type { HoldfastClient } from "@holdfast/sdk/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Command } from "../command.ts";
import { parseCommandLine } from "../line/parse.ts";
import { command as cancel } from "./cancel.ts";
import { command as list } from "./personas/ls.ts";
import { command as show } from "./personas/show.ts";
import { command as transcript } from "./transcript.ts";
import { command as usage } from "./usage.ts";

let out = "";
let err = "";
const calls: [string, Record<string, unknown>][] = [];
let reply: (name: string, request: { query?: Record<string, string> }) => unknown;
let entries: () => AsyncGenerator<unknown>;

beforeEach(() => {
  out = "";
  err = "";
  calls.length = 0;
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    out += text;
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    err += text;
    return true;
  });
});
afterEach(() => void vi.restoreAllMocks());

async function run(command: Command, ...argv: string[]): Promise<unknown> {
  const client = {
    call: async (name: string, request: Record<string, unknown>) => {
      calls.push([name, request]);
      return reply(name, request as never);
    },
    entries: () => entries(),
  } as unknown as HoldfastClient;
  const line = parseCommandLine(command, argv);
  return command.run({ ...line, json: line.flags.has("json"), home: {} as Home, client });
}

const said = (n: number) => ({
  run: 1,
  cursor: `1.${n}`,
  entry: { v: 1, n, at: "2026-11-15T12:00:00.000Z", turn: null, type: "text", text: `t${n} ` },
});
const piece = (from: number, to: number, more = {}) => ({
  session: { id: "aaaaaaaaaa" },
  entries: Array.from({ length: to - from + 1 }, (_, at) => said(from + at)),
  cursor: `1.${to}`,
  more: false,
  pages: null,
  damaged: 0,
  ...more,
});

test("transcript prints all parts and the number of unreadable lines", async () => {
  reply = (_, { query }) => (query?.after === undefined ? piece(1, 2, { more: true, damaged: 1 }) : piece(3, 3, { damaged: 1 }));
  expect(await run(transcript, "fix")).toBe(0);
  expect(out).toBe("t1 t2 t3 \n");
  expect(err).toContain("2 lines of the transcript could not be read");
  out = "";
  await run(transcript, "fix", "--json");
  expect(
    out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).entry.n),
  ).toEqual([1, 2, 3]);
});

test("transcript --page prints one page and its number", async () => {
  reply = () => piece(1, 1, { more: true, pages: 3 });
  await run(transcript, "fix", "--page", "2");
  expect(calls).toEqual([["readTranscript", { params: { ref: "fix" }, query: { page: "2", turns: undefined } }]]);
  expect(err).toBe("page 2 of 3\n");
});

test("transcript -f continues after a daemon dies, until the session has ended and everything is printed", async () => {
  let streams = 0;
  entries = async function* () {
    streams++;
    if (streams === 1) {
      yield said(2);
      throw new HoldfastError("daemon_unreachable", "gone");
    }
    if (streams === 2) yield said(3);
  };
  let left = 1;
  reply = (name, { query }) => {
    if (name === "getSession") return { status: "done" };
    return query?.limit === undefined ? piece(1, 1) : piece(1, left--);
  };
  expect(await run(transcript, "fix", "-f")).toBe(0);
  expect(out).toBe("t1 t2 t3 \n");
  expect(streams).toBe(3);
});

test("cancel reports whether a turn was running", async () => {
  reply = () => ({ session: { name: "fix" }, cancelled: true, outcome: "stopped", steps: ["keys", "keys_again"] });
  await run(cancel, "fix");
  reply = () => ({ session: { name: "fix" }, cancelled: false, outcome: "none", steps: [] });
  await run(cancel, "fix");
  await run(cancel, "fix", "--json");
  const json = '{"name":"fix","cancelled":false,"outcome":"none","steps":[]}';
  expect(out).toBe(`fix: interrupted, at the second attempt\nfix: no turn is running\n${json}\n`);
});

test("usage requests the given grouping, time and session, and refuses unknown ones", async () => {
  reply = () => ({ by: "day" });
  await run(usage, "--json");
  await run(usage, "fix", "--json");
  await run(usage, "--by", "model", "--since", "all", "--json");
  const asked = calls.map(([, { query }]) => query as Record<string, unknown>);
  expect(asked).toMatchObject([
    { by: "day", session: undefined },
    { by: "turn", session: "fix", since: undefined },
    { by: "model", since: undefined },
  ]);
  expect(asked[0]?.since).toMatch(/^\d{4}-/);
  await expect(run(usage, "--by", "moon")).rejects.toMatchObject({ code: "usage" });
  await expect(run(usage, "a", "b")).rejects.toMatchObject({ code: "usage" });
});

const persona = {
  name: "reviewer",
  description: "reads\ncode",
  agent: null,
  model: null,
  tools: null,
  instructions: "Be\tkind.",
  file: "/p/reviewer.md",
  source: "project",
  shadowedBy: null,
};

test("personas lists used personas, unused ones and problems", async () => {
  reply = () => ({ personas: [], problems: [] });
  await run(list);
  expect(out).toContain("No personas.");
  out = "";
  const other = { ...persona, agent: "claude", source: "user", file: "/u/reviewer.md", shadowedBy: "/p/reviewer.md" };
  reply = () => ({
    personas: [persona, other],
    problems: [
      { file: "/p/bad.md", line: 3, what: "no name", expected: "name: WORD", usable: false },
      { file: "/p/odd.md", line: 1, what: "odd", expected: "less", usable: true },
    ],
  });
  await run(list);
  expect(out).toContain("reads code");
  expect(out).toMatch(/Not used, because another persona has the same name:\n.*\/u\/reviewer\.md/);
  expect(out).toContain("/p/bad.md:3 no name; expected name: WORD\n");
  expect(out).toContain("(still used)");
});

test("personas show prints the agent's instructions", async () => {
  reply = () => persona;
  await run(show, "reviewer");
  expect(out).toMatch(/^reviewer\nreads\ncode\n\nagent {2}any/);
  expect(out).toContain("\n\nBe    kind.\n");
  await run(show, "reviewer", "--json");
  expect(out).toContain(JSON.stringify(persona));
  await expect(run(show)).rejects.toMatchObject({ code: "usage" });
});
