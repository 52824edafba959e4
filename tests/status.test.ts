import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Explanation, Session } from "@holdfast/contract";
import { describe, expect, test } from "vitest";
import { attachTerminal, openTerminal } from "./attached.ts";
import { eventually, TestHome } from "./home.ts";
import { act, configure, shows } from "./scripted-agent.ts";

describe.each(["tmux", "native"] as const)("on %s", (host) => {
  test("ls shows each agent's status, its age and the open request; explain shows the evidence (NEW-03 agents)", async () => {
    await using home = new TestHome();
    configure(home);
    await act(home, "api", "--host", host);
    await home.until("api", ({ status }) => status === "idle");
    await shows(home, "api", "work on it");
    expect(await home.until("api", ({ status }) => status === "working")).toMatchObject({ turn: "working", turns: 1, attention: null });
    await shows(home, "api", "may I delete everything?");
    const waiting = await home.until("api", ({ status }) => status === "waiting");
    expect(waiting.attention).toEqual({ for: "approval", text: "delete everything", until: null });
    expect(waiting.statusForMs).toBeGreaterThanOrEqual(0);
    expect(await home.ok(["ls"])).toMatch(/^api +waiting \d+s +approval: delete everything/m);

    const { explanation } = await home.json<{ explanation: Explanation }>(["explain", "api"]);
    expect(explanation.sources).toEqual(["screen"]);
    expect(explanation.attention?.evidence).toMatchObject({ source: "screen", settled: true });
    expect(explanation.background).toBeNull();
    const text = await home.ok(["explain", "api"]);
    expect(text).toMatch(/^attention +waiting for approval: delete everything, by its screen, \d+s ago: asks: /m);
    expect(text).toMatch(/^background +unknown/m);
    const events = (await home.ok(["events", "--type", "session.status_changed"])).trim().split("\n");
    expect(events.map((line) => JSON.parse(line).data.status)).toEqual(["idle", "working", "waiting"]);
  });

  test("the daemon after a killed one knows each agent's status, and counts no turn twice", async () => {
    await using home = new TestHome();
    configure(home);
    await act(home, "api", "--host", host);
    await shows(home, "api", "work on it");
    const before = await home.until("api", ({ status }) => status === "working");
    await home.killDaemon();
    await shows(home, "api", "work on it still");
    const after = await home.until("api", ({ status }) => status === "working");
    expect([after.turns, after.statusAt]).toEqual([1, before.statusAt]);
    await shows(home, "api", "ready");
    await home.until("api", ({ status }) => status === "idle");
  });
});

test.each(["tmux", "native"])("a turn shorter than the screen poll is counted by the titles it sets, on %s (truth 6)", async (host) => {
  await using home = new TestHome();
  const title = (text: string) => `printf '\\033]0;${text}\\007'`;
  const script = path.join(home.root, "titled.sh");
  // The two titles of the second turn arrive in two writes.
  const turns = [`${title("busy")}; ${title("ready")}`, `${title("busy")}; sleep 0.01; ${title("ready")}`];
  writeFileSync(script, `${title("ready")}\n${turns.map((turn) => `read line; ${turn}`).join("\n")}\nexec cat\n`);
  const rule = (text: string, turn: string) => `[[agents.titled.screen]]\nname = "${text}"\ntitle = "^${text}$"\nturn = "${turn}"\n`;
  configure(home, `[agents.titled]\ncommand = ["sh", "${script}"]\n${rule("busy", "working")}${rule("ready", "idle")}`);
  await home.ok(["spawn", "titled", "--name", "api", "--host", host]);
  await home.until("api", ({ status }) => status === "idle");
  await home.ok(["keys", "api", "Enter"]);
  await home.until("api", ({ status, turns }) => status === "idle" && turns === 1);
  await home.ok(["keys", "api", "Enter"]);
  expect(await home.until("api", ({ status, turns }) => status === "idle" && turns === 2)).toMatchObject({ turns: 2 });
});

test("a screen that matches no rule makes the status unknown", async () => {
  await using home = new TestHome();
  configure(home);
  await act(home, "api");
  await home.until("api", ({ status }) => status === "idle");
  await shows(home, "api", "something else");
  await home.until("api", ({ status }) => status === "unknown");
});

test("a working agent without progress is marked as hung until it progresses (SYM-13 agents)", async () => {
  await using home = new TestHome();
  configure(home, 'hung_after = "2s"\n');
  await act(home, "api");
  await shows(home, "api", "work on it");
  await home.until("api", ({ hung }) => hung);
  expect(await home.ok(["ls"])).toMatch(/^api +working \d+s \(hung\)/m);
  expect((await home.json<Session>(["next"])).name).toBe("api");
  await shows(home, "api", "work on it again");
  await home.until("api", ({ hung }) => !hung);
  const events = (await home.ok(["events", "--type", "session.status_changed"])).trim().split("\n");
  expect(events.map((line) => JSON.parse(line).data.hung)).toContain(true);
});

/** Draws a spinner and counts seconds forever, and also runs `more`. */
function spinner(name: string, more: string): string {
  const draw = "i=0; while :; do i=$((i+1)); printf '\\r⠋ Thinking... %ss' $i; sleep 0.2; printf '\\r⠙'; sleep 0.2; done";
  const command = JSON.stringify(["sh", "-c", `echo work; ${more} ${draw}`]);
  return `[agents.${name}]\ncommand = ${command}\n[[agents.${name}.screen]]\nline = "^work"\nturn = "working"\n\n`;
}

test("a turning spinner is not progress; a tool's output and its CPU time are (mend 12)", async () => {
  await using home = new TestHome();
  const log = path.join(home.root, "tool.log");
  const tools = "(while :; do :; done) & (j=0; while :; do j=$((j+1)); echo $j; done > /dev/null) &";
  const printing = `(while :; do sleep 0.5; date +%N; done | tee '${log}') &`;
  configure(home, `hung_after = "4s"\n${spinner("stuck", "")}${spinner("computes", tools)}${spinner("prints", printing)}`);
  for (const name of ["stuck", "computes", "prints"]) await home.ok(["spawn", name, "--name", name]);
  await home.until("stuck", ({ hung }) => hung);
  expect(await home.ok(["explain", "stuck"])).toContain("no progress");
  for (const name of ["computes", "prints"]) expect([name, (await home.session(name)).hung]).toEqual([name, false]);
  expect((await home.session("stuck")).idleMs).toBeLessThan(4000);
});

test("an agent that retries keeps waiting for its limit, even when its screen shows a retry (truth 2)", async () => {
  await using home = new TestHome();
  const draw = (times: number, text: string) => `for i in $(seq ${times}); do printf '\\033[2J\\033[H%s %s' '${text}' $i; sleep 0.1; done`;
  const command = `for try in $(seq 12); do ${draw(12, "refused")}; ${draw(3, "work")}; done; printf '\\033[2J\\033[Hready'; read -r line`;
  const refused = '[[agents.tries.screen]]\nline = "^refused"\nturn = "working"\nwaits = "rate_limit"\n';
  const others = [
    ["work", "working"],
    ["ready", "idle"],
  ].map(([line, turn]) => `[[agents.tries.screen]]\nline = "^${line}"\nturn = "${turn}"\n`);
  configure(home, `[agents.tries]\ncommand = ${JSON.stringify(["sh", "-c", command])}\n${refused}${others.join("")}`);
  await home.ok(["spawn", "tries", "--name", "tries"]);
  await home.until("tries", ({ status }) => status === "idle");
  const events = (await home.ok(["events", "--type", "session.status_changed"])).trim().split("\n");
  const statuses = events.map((line) => JSON.parse(line).data.status as string);
  expect(statuses.filter((status, i) => status !== statuses[i - 1])).toEqual(["waiting", "idle"]);
});

/** Looks like opencode: `leave` ends its turn and leaves a process that runs until a file exists. It also has a tool server. */
const LEAVING = `#!/bin/sh
exec 3<&0
tail -f /dev/null <&3 | cat > /dev/null &
printf '\\033[2J\\033[H  ╹▀▀▀▀\\n'
while read -r line; do
  case $line in
    work) printf '\\033[2J\\033[H   ■■⬝⬝  esc interrupt\\n' ;;
    leave) sh -c 'until [ -e over ]; do sleep 0.1; done' < /dev/null > /dev/null 2>&1 & ;;
  esac
  [ "$line" = work ] || printf '\\033[2J\\033[H  ╹▀▀▀▀\\n'
done
`;

test("a background process that an agent left is reported until the process ends (truth 4)", async () => {
  await using home = new TestHome();
  const bin = path.join(home.root, "bin");
  mkdirSync(bin);
  writeFileSync(path.join(bin, "opencode"), LEAVING, { mode: 0o755 });
  await home.ok(["spawn", "opencode", "--name", "api"], { cwd: home.root, env: { PATH: `${bin}:${process.env.PATH}` } });
  const turn = async (line: string, turns: number) => {
    await home.until("api", ({ status }) => status === "idle");
    await home.ok(["send", "api", "work", "--force"]);
    await home.until("api", ({ status }) => status === "working");
    await home.ok(["send", "api", line, "--force"]);
    return home.until("api", (now) => now.status === "idle" && now.turns === turns);
  };
  await turn("rest", 1);
  await turn("leave", 2);
  await home.until("api", ({ background }) => background === true);
  expect(await home.ok(["explain", "api"])).toMatch(/^background +something is running, by its processes, .*: sh \(\d+\)/m);
  await home.killDaemon();
  await turn("rest", 3);
  expect((await home.session("api")).background).toBe(true);
  writeFileSync(path.join(home.root, "over"), "");
  await home.until("api", ({ background }) => background === false);
  const { explanation } = await home.json<{ explanation: Explanation }>(["explain", "api"]);
  expect(explanation.background?.evidence).toMatchObject({ source: "processes", what: "no background process is running" });
  const events = (await home.ok(["events", "--type", "session.status_changed"])).trim().split("\n");
  const seen = events.map((line) => JSON.parse(line).data.background as boolean | null);
  expect(seen.filter((background, i) => background !== seen[i - 1])).toEqual([null, true, false]);
});

test("a silent agent that uses CPU time is not hung", async () => {
  await using home = new TestHome();
  configure(home, 'hung_after = "1s"\n');
  await home.ok(["spawn", "actor", "--name", "idle"]);
  const busy = `[agents.busy]\ncommand = ["sh", "-c", "echo work; while :; do :; done"]\n[[agents.busy.screen]]\nline = "^work"\nturn = "working"\n`;
  configure(home, `hung_after = "1s"\n${busy}`);
  await home.ok(["down"]);
  await home.ok(["spawn", "busy", "--name", "busy"]);
  await home.until("busy", ({ status }) => status === "working");
  await shows(home, "idle", "work on it");
  await home.until("idle", ({ hung }) => hung);
  await home.until("busy", ({ idleMs }) => (idleMs ?? 0) > 3000);
  expect((await home.session("busy")).hung).toBe(false);
});

describe("wait", () => {
  test("returns when the agent is idle, waits, or has ended its turn", async () => {
    await using home = new TestHome();
    configure(home);
    await act(home, "api");
    expect(await home.ok(["wait", "api", "--for", "idle", "--timeout", "60s"])).toMatch(/^api is idle/);
    const turn = home.ok(["wait", "api", "--for", "turn", "--timeout", "60s"]);
    const asked = home.ok(["wait", "api", "--for", "waiting", "--timeout", "60s"]);
    await shows(home, "api", "work on it");
    await home.until("api", ({ status }) => status === "working");
    await shows(home, "api", "may I go on?");
    expect(await asked).toMatch(/^api is waiting \d+s: approval: go on/);
    await shows(home, "api", "work on it");
    await home.until("api", ({ status }) => status === "working");
    await shows(home, "api", "ready");
    expect(await turn).toMatch(/^api is idle/);
    const late = await home.cli(["wait", "api", "--for", "waiting", "--timeout", "1s"]);
    expect([late.code, late.stderr]).toEqual([16, expect.stringContaining("api is idle")]);
  });

  test("has one exit code for an agent whose status is unknown, and another for an ended one", async () => {
    await using home = new TestHome();
    configure(home, '[agents.mute]\ncommand = ["sleep", "1000"]\n');
    await home.ok(["spawn", "mute", "--name", "mute"]);
    const unknown = await home.cli(["wait", "mute", "--for", "idle", "--timeout", "60s"]);
    expect([unknown.code, unknown.stderr]).toEqual([23, expect.stringContaining("unknown")]);
    const waiting = home.cli(["wait", "mute", "--for", "idle", "--timeout", "60s"]);
    await home.ok(["stop", "mute"]);
    expect([6, 23]).toContain((await waiting).code);
  });
});

describe("next", () => {
  test("attaches to the session that has waited longest, from the shell (NEW-11 agents)", async () => {
    await using home = new TestHome();
    configure(home);
    expect((await home.cli(["next"])).code).toBe(24);
    for (const name of ["a", "b"]) await act(home, name);
    for (const name of ["b", "a"]) {
      await shows(home, name, `may I ask for ${name}?`);
      await home.until(name, ({ status }) => status === "waiting");
    }
    expect((await home.json<Session>(["next"])).name).toBe("b");
    using terminal = openTerminal(home);
    await terminal.command("holdfast next");
    await terminal.shows(/may I ask for b\?/);
  });

  test.each([
    ["tmux", "tmux"],
    ["tmux", "native"],
    ["native", "tmux"],
    ["native", "native"],
  ] as const)(
    "a key in an attached terminal switches to the next waiting session, from %s to %s, and back (NEW-11 agents)",
    async (from, to) => {
      await using home = new TestHome();
      configure(home);
      await act(home, "here", "--host", from);
      await act(home, "there", "--host", to);
      for (const name of ["here", "there"]) {
        await shows(home, name, `may I ask for ${name}?`);
        await home.until(name, ({ status }) => status === "waiting");
      }
      using terminal = openTerminal(home);
      await terminal.command("holdfast attach here");
      await terminal.shows(/may I ask for here\?/);
      terminal.keys("C-]");
      await terminal.shows(/may I ask for there\?/);
      terminal.keys("C-]");
      await terminal.shows(/may I ask for here\?/);
    },
  );

  test("the key shows a notice and stays on the session when no other session waits", async () => {
    await using home = new TestHome();
    configure(home);
    await act(home, "here");
    using terminal = await attachTerminal(home, { ref: "here" });
    terminal.keys("C-]");
    await terminal.shows(/no other session waits for a person/);
  });
});

test("statusline prints one line, and nothing without a daemon", async () => {
  await using home = new TestHome();
  configure(home);
  expect(await home.ok(["statusline"])).toBe("");
  for (const name of ["a", "b"]) await act(home, name);
  await shows(home, "b", "may I?");
  await shows(home, "b", "may I do it?");
  const line = await eventually(async () => {
    const text = await home.ok(["statusline"]);
    return text.includes("1 waiting") && text.includes("1 idle") ? text : undefined;
  });
  expect(line).toMatch(/^1 waiting \(b \d+s\) · 1 idle\n$/);
  expect(await home.ok(["statusline", "--tmux"])).toMatch(/^#\[fg=yellow\]1 waiting/);
  // A person cannot lift a rate limit, so `next` skips the session.
  await shows(home, "b", "limit reached");
  await eventually(async () => (await home.ok(["statusline"])) === "1 idle · 1 limited\n");
  expect((await home.cli(["next", "--json"])).code).toBe(24);
  expect(await home.json(["next", "--idle"])).toMatchObject({ name: expect.any(String) });
});

test("wait on a shell fails at once, because its status is unknown", async () => {
  await using home = new TestHome();
  await home.run("sleep 60", "--name", "sh");
  for (const what of ["idle", "waiting", "turn"]) {
    const { code, stderr } = await home.cli(["wait", "sh", "--for", what, "--timeout", "60s"]);
    expect([code, stderr]).toEqual([23, expect.stringContaining("output=REGEX")]);
  }
});

/** A Claude that draws its composer once and then reports its status only in its own file. */
const SILENT = `#!/bin/sh
says() { echo "{\\"status\\":\\"$1\\",\\"statusUpdatedAt\\":$(date +%s%3N)}" > "$CLAUDE_CONFIG_DIR/sessions/$$.json"; }
mkdir -p "$CLAUDE_CONFIG_DIR/sessions"
says idle
printf '\\033[2J\\033[H❯ \\n  ? for shortcuts\\n'
until [ -e begin ]; do sleep 0.05; done
says busy
until [ -e end ]; do sleep 0.05; done
says idle
read -r line
`;

test("a status that an agent writes into its own file is known without a change of its screen (truth 5)", async () => {
  await using home = new TestHome();
  const bin = path.join(home.root, "bin");
  mkdirSync(bin);
  writeFileSync(path.join(bin, "claude"), SILENT, { mode: 0o755 });
  const env = { PATH: `${bin}:${process.env.PATH}`, CLAUDE_CONFIG_DIR: path.join(home.root, "config") };
  await home.ok(["spawn", "claude", "--name", "api"], { cwd: home.root, env });
  await home.until("api", ({ status }) => status === "idle");
  writeFileSync(path.join(home.root, "begin"), "");
  await home.until("api", ({ status }) => status === "working");
  writeFileSync(path.join(home.root, "end"), "");
  await home.until("api", ({ status }) => status === "idle");
});
