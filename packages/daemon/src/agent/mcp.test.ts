import { execFileSync } from "node:child_process";
import { existsSync, mkdtempDisposableSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MCP_FILE } from "@holdfast/contract/agent/order";
import { parse } from "smol-toml";
import { expect, test } from "vitest";
import { giveServers, hasOwnServer, serversInConversation, serversOf } from "./give-servers.ts";
import { type McpServer, ownServer, readServers } from "./mcp.ts";
import { meansOf } from "./means.ts";
import type { Profile } from "./profile.ts";
import { Profiles } from "./profiles/index.ts";
import { userProfiles } from "./user-profiles.ts";

const SERVERS: McpServer[] = [
  { name: "tickets", command: ["tickets-mcp", "--say", 'a "b"'], env: { URL: "x=1" }, agents: null },
  { name: "maps", command: ["maps-mcp"], env: {}, agents: ["codex"] },
];

function given(agent: string, env: Record<string, string> = {}) {
  using place = mkdtempDisposableSync(join(tmpdir(), "hf-mcp-"));
  const run = { directory: place.path, env };
  const { args, env: more } = giveServers(new Profiles(undefined, SERVERS).find(agent), run);
  const file = args.find((word) => word.includes(MCP_FILE));
  return { args, env: more, file: file === undefined ? undefined : JSON.parse(readFileSync(join(place.path, MCP_FILE), "utf8")) };
}

test.each(["claude", "qwen"])("%s gets its servers in a file of the run", (agent) => {
  const { args, file } = given(agent);
  expect(args).toHaveLength(1);
  expect(args[0]).toMatch(/^--mcp-config=\/.*\/mcp$/);
  expect(file).toEqual({ mcpServers: { tickets: { command: "tickets-mcp", args: ["--say", 'a "b"'], env: { URL: "x=1" } } } });
});

test("Codex starts servers through a file of the run: no command line shows them", () => {
  using place = mkdtempDisposableSync(join(tmpdir(), "hf mcp's "));
  const [tickets, maps] = SERVERS;
  const shown = { ...tickets, command: ["sh", "-c", 'printf "%s|" "$URL" "$@"', "sh", 'a "b"', "it's"] } as McpServer;
  const { args, env } = giveServers(new Profiles(undefined, [shown, maps as McpServer]).find("codex"), { directory: place.path, env: {} });
  expect([args.filter((_, i) => i % 2 === 0), env]).toEqual([["-c", "-c"], {}]);
  const file = join(place.path, MCP_FILE);
  expect(parse(args.filter((_, i) => i % 2 === 1).join("\n"))).toEqual({
    mcp_servers: { tickets: { command: "sh", args: [file, "tickets"] }, maps: { command: "sh", args: [file, "maps"] } },
  });
  expect(execFileSync("sh", [file, "tickets"], { encoding: "utf8" })).toBe('x=1|a "b"|it\'s|');
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("opencode gets servers in addition to the user's own, which win", () => {
  const { env } = given("opencode", { OPENCODE_CONFIG_CONTENT: '{"theme":"x","mcp":{"own":{"type":"remote"}}}' });
  const ours = { type: "local", command: SERVERS[0]?.command, environment: { URL: "x=1" }, enabled: true };
  expect(JSON.parse(env.OPENCODE_CONFIG_CONTENT ?? "")).toEqual({ theme: "x", mcp: { own: { type: "remote" }, tickets: ours } });
  expect(given("opencode", { OPENCODE_CONFIG_CONTENT: "not JSON" }).env).toEqual({});
});

test("agents that take servers have Holdfast's tools, unless config.toml turns them off", () => {
  const having = (table: unknown) => {
    const profiles = new Profiles(undefined, ownServer(["holdfast"], table));
    return (agent: string, isChat: boolean) => hasOwnServer(profiles.find(agent), { isChat, directory: tmpdir() });
  };
  const has = having(undefined);
  expect([has("claude", false), has("claude", true), has("aider", false), has("opencode", true)]).toEqual([true, true, false, true]);
  // In a terminal Gemini takes no servers from a directory that others can write to.
  expect([has("gemini", false), has("gemini", true)]).toEqual([false, true]);
  expect([has("model", true), has("nothing", false), has("shell", false)]).toEqual([true, false, false]);
  expect(having({ holdfast: false })("claude", true)).toBe(false);
});

test("a model agent has Holdfast's server unless its tools exclude it, a command agent if it has the placeholder", () => {
  const agents = {
    small: { model: { endpoint: "http://x/v1", tools: ["read_file", "*_files"] } },
    telling: { model: { endpoint: "http://x/v1", tools: ["mcp__holdfast__send_message"] } },
    taking: { exec: { command: ["ask", "--servers={mcp}"] } },
    plain: { exec: { command: ["ask"] } },
  };
  const own = (builtIn: (name: string) => Profile | undefined) => userProfiles(agents, { file: "config.toml", builtIn });
  const profiles = new Profiles(own, [...SERVERS, ...ownServer(["holdfast"], undefined)]);
  const given = Object.keys(agents).map((name) => serversInConversation(profiles.find(name), IDENTITY).map((server) => server.name));
  expect(given).toEqual([["tickets"], ["tickets", "holdfast"], ["tickets", "holdfast"], ["tickets"]]);
  expect(Object.keys(agents).map((name) => hasOwnServer(profiles.find(name), { isChat: true, directory: "/" }))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

test("an agent that enforces tools has those that its settings and its role allow, including commands", () => {
  const agents = { small: { model: { endpoint: "http://x/v1", tools: ["read_file", "mcp__holdfast"] } } };
  const own = (builtIn: (name: string) => Profile | undefined) => userProfiles(agents, { file: "config.toml", builtIn });
  const profiles = new Profiles(own, ownServer(["holdfast"], undefined));
  const means = (agent: string, tools: string[] | null, denied: string[] = []) => {
    const rule = { allowed: tools, denied };
    const { uses, runsCommands } = meansOf(profiles.find(agent), { isChat: true, directory: tmpdir(), rule });
    return [uses("list_peers"), uses("send_message"), runsCommands];
  };
  expect(means("model", null)).toEqual([true, true, true]);
  expect(means("model", ["read_file"])).toEqual([false, false, false]);
  expect(means("model", ["run_command", "mcp__holdfast__send_message"])).toEqual([false, true, true]);
  expect(means("small", ["*"])).toEqual([true, true, false]);
  expect(means("model", null, ["mcp__holdfast__list_peers", "Bash", "run_command"])).toEqual([false, true, false]);
  expect(means("claude", ["Read"])).toEqual([false, false, false]);
  expect(means("claude", ["Bash", "mcp__holdfast"])).toEqual([true, true, true]);
  // Other agents are not restricted.
  expect(means("codex", ["Read"])).toEqual([true, true, true]);
});

test("an agent that takes no servers gets none", () => {
  expect(given("gemini")).toEqual({ args: [], env: {}, file: undefined });
});

test.each([
  ["mcp = 3", "mcp is not a table"],
  ["[mcp.a]", "mcp.a.command is not a list of words"],
  ['[mcp.a]\ncommand = "x"', "mcp.a.command is not a list of words"],
  ['[mcp.a]\ncommand = ["x"]\nenv = { A = 1 }', "mcp.a.env is not a table of texts"],
  ['[mcp.a]\ncommand = ["x"]\nenv = { "A B" = "1" }', 'mcp.a.env has "A B", which is not a variable name'],
  ['[mcp.a]\ncommand = ["x"]\nagents = "claude"', "mcp.a.agents is not a list of agents"],
])("%j is refused: %s", (text, why) => {
  expect(() => readServers({ table: (parse(text) as { mcp?: unknown }).mcp, file: "config.toml" })).toThrow(`config.toml: ${why}`);
});

const IDENTITY = { HOLDFAST_HOME: "/h", HOLDFAST_SESSION: "aaaaaaaaaa", HOLDFAST_RUN: "aaaaaaaaaa.1", HOLDFAST_TOKEN: "hfs_secret" };

test.each(["claude", "codex", "qwen", "opencode"])(
  "%s has Holdfast's own server besides others, and no command line shows the run's token",
  (agent) => {
    using place = mkdtempDisposableSync(join(tmpdir(), "hf-mcp-"));
    const profiles = new Profiles(undefined, [...SERVERS, ...ownServer(["node", "holdfast.cjs"], undefined)]);
    const given = giveServers(profiles.find(agent), { directory: place.path, env: {}, identity: IDENTITY });
    expect(JSON.stringify(given.args)).not.toContain("hfs_secret");
    const file = join(place.path, MCP_FILE);
    const kept = existsSync(file) ? readFileSync(file, "utf8") : JSON.stringify(given.env);
    expect(kept).toContain("hfs_secret");
    expect(kept).toMatch(/tickets[\s\S]*holdfast/);
    if (existsSync(file)) expect(statSync(file).mode & 0o777).toBe(0o600);
    // Without a run there is no session to act as.
    expect(serversOf(profiles.find(agent)).map(({ name }) => name)).not.toContain("holdfast");
  },
);

test("Holdfast's own server is omitted if config.toml turns it off or has another of that name", () => {
  const own = (toml: string) => ownServer(["hf"], (parse(toml) as { mcp?: unknown }).mcp).map(({ command }) => command);
  expect(own("")).toEqual([["hf", "mcp"]]);
  expect(own("[mcp]\nholdfast = true")).toEqual([["hf", "mcp"]]);
  expect(own("[mcp]\nholdfast = false")).toEqual([]);
  expect(own('[mcp.holdfast]\ncommand = ["mine"]')).toEqual([]);
  expect(readServers({ table: { holdfast: false }, file: "config.toml" })).toEqual([]);
});
