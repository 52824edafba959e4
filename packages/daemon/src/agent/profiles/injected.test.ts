import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Injected } from "../hooks/injection.ts";
import { Profiles } from "./index.ts";

const profiles = new Profiles();
let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hf-injected-"));
});
afterEach(() => rmSync(home, { recursive: true }));

function inject(agent: string, { args = [], env = {}, tell = "sh '/state/tell'", directory = "/state/hooks" }: Place = {}): Injected {
  const place = { directory, tell, ask: "sh '/state/ask'", env: { HOME: home, ...env }, args, cwd: home };
  return profiles.get(agent).hooks?.inject(place) ?? {};
}

interface Place {
  args?: string[];
  env?: Record<string, string>;
  tell?: string;
  directory?: string;
}

test("hooks for Qwen Code are below all settings of the user and the machine", () => {
  const { args, env, files } = inject("qwen", { env: { QWEN_CODE_SYSTEM_SETTINGS_PATH: join(home, "settings.json") } });
  expect(args).toEqual(["--input-file", "/state/hooks/input.jsonl"]);
  expect(env).toEqual({ QWEN_CODE_SYSTEM_DEFAULTS_PATH: "/state/hooks/settings.json" });
  const { hooks } = JSON.parse(files?.["settings.json"] ?? "");
  expect(hooks.Stop).toEqual([{ hooks: [{ type: "command", name: "holdfast", command: "sh '/state/tell'" }] }]);
});

test("the machine's defaults for Qwen Code are kept, including hooks", () => {
  const theirs = { hooks: [{ type: "command", command: "theirs" }] };
  writeFileSync(
    join(home, "system-defaults.json"),
    JSON.stringify({ ui: { theme: "Dark" }, hooks: { Stop: [theirs], PreToolUse: [theirs] } }),
  );
  const { files } = inject("qwen", { env: { QWEN_CODE_SYSTEM_SETTINGS_PATH: join(home, "settings.json") } });
  const { ui, hooks } = JSON.parse(files?.["settings.json"] ?? "");
  expect(ui).toEqual({ theme: "Dark" });
  expect(hooks.PreToolUse).toEqual([theirs]);
  expect(hooks.Stop).toEqual([theirs, { hooks: [{ type: "command", name: "holdfast", command: "sh '/state/tell'" }] }]);
});

test.each(["// a comment\n{}", '["no settings"]', '{"hooks": {"Stop": "no list"}}'])(
  "unreadable defaults of Qwen Code are not replaced: %s",
  (content) => {
    mkdirSync(join(home, "etc"));
    writeFileSync(join(home, "etc/defaults.json"), content);
    expect(inject("qwen", { env: { QWEN_CODE_SYSTEM_DEFAULTS_PATH: join(home, "etc/defaults.json") } })).toEqual({});
  },
);

test("a command with variables that Qwen Code would expand is not injected", () => {
  expect(inject("qwen", { tell: "sh '/state/$HOME/tell'" })).toEqual({});
});

test("Codex trusts the injected hooks by their hash, and no others", () => {
  const { args = [], env, files } = inject("codex", { tell: "sh /tmp/tell" });
  expect([env, files]).toEqual([undefined, undefined]);
  expect(args).toContain('hooks.Stop=[{hooks=[{type="command",command="sh /tmp/tell"}]}]');
  // The hashes that `hooks/list` of Codex 0.166.0 returns.
  const stop = "499e8014748acee5608c7a517b7ff14ae44f4c130b510cccfab2919489e5edb5";
  expect(args.at(-1)).toContain(`"/<session-flags>/config.toml:stop:0:0"={trusted_hash="sha256:${stop}"}`);
  expect(args.some((word) => word.includes("bypass"))).toBe(false);
});

test.each([["-c", "hooks.Stop=[]"], ["--config=hooks={}"], ["-chooks.Stop=[]"], ["-c", '"hooks".Stop=[]']])(
  "a user's own hooks on Codex's command line stay unchanged: %s %s",
  (...args) => expect(inject("codex", { args })).toEqual({}),
);

test("other arguments of the user do not prevent hooks for Codex", () => {
  expect(inject("codex", { args: ["-c", "model=x", "explain hooks = yes"] }).args).toHaveLength(16);
});

test("Gemini CLI gets no hooks below a directory that others can write to, where it would reject them with a warning", () => {
  const run = join(home, "runs/1");
  mkdirSync(run, { recursive: true });
  expect(inject("gemini", { directory: join(run, "hooks") })).toEqual({});
});

test("opencode gets a plugin in addition to the user's", () => {
  withSdk(join(home, ".config/opencode"));
  const theirs = { theme: "dark", plugin: ["their-plugin"] };
  const { env, files } = inject("opencode", { env: { OPENCODE_CONFIG_CONTENT: JSON.stringify(theirs) } });
  const ours = "file:///state/hooks/plugin.js";
  expect(JSON.parse(env?.OPENCODE_CONFIG_CONTENT ?? "")).toEqual({ theme: "dark", plugin: ["their-plugin", ours] });
  expect(files?.["plugin.js"]).toContain("session.status");
});

test("opencode gets no plugin where it would first wait for an installation", () => {
  expect(inject("opencode")).toEqual({});
  withSdk(join(home, ".config/opencode"));
  expect(inject("opencode").files).toBeDefined();
  mkdirSync(join(home, ".opencode"));
  expect(inject("opencode")).toEqual({});
  withSdk(join(home, ".opencode"));
  expect(inject("opencode").files).toBeDefined();
  writeFileSync(join(home, ".opencode/package.json"), '{"dependencies": {"added": "1.0.0"}}');
  expect(inject("opencode")).toEqual({});
});

test.each(["{ // a comment\n}", "[]", '{"plugin": "one"}'])(
  "a configuration of opencode that cannot be extended stays unchanged: %s",
  (content) => {
    withSdk(join(home, ".config/opencode"));
    expect(inject("opencode", { env: { OPENCODE_CONFIG_CONTENT: content } })).toEqual({});
  },
);

/** Creates the files that a start of opencode leaves. */
function withSdk(directory: string): void {
  const sdk = { dependencies: { "@opencode-ai/plugin": "1.0.0" } };
  mkdirSync(join(directory, "node_modules"), { recursive: true });
  writeFileSync(join(directory, "package.json"), JSON.stringify(sdk));
  writeFileSync(join(directory, "package-lock.json"), JSON.stringify({ packages: { "": sdk } }));
}
