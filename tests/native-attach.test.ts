import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { eventually, HOLDFAST, TestHome } from "./home.ts";
import { Terminal } from "./terminal.ts";

/** Answers each line, prints its size on a resize, and has a command that switches screens. */
const PROGRAM = `
trap 'stty size' WINCH
stty -echo
echo ready
while :; do
  read -r line || continue
  case $line in
    alt) printf '\\033[?1049h\\033[2J\\033[Hin the alternate screen' ;;
    back) printf '\\033[?1049l' ;;
    mouse) printf '\\033[?1000h\\033[?2004h\\033[?25l' ;;
    *) echo "got $line" ;;
  esac
done`;

function attached(home: TestHome, flags = ""): Promise<Terminal> {
  return new Terminal({ env: home.env, columns: 90, rows: 20 }).after(async (terminal) => {
    await terminal.command("echo before; stty -a > /dev/null");
    await terminal.shows("before");
    await terminal.command(`${HOLDFAST} attach chat ${flags}`);
    await terminal.shows(/^(?!.*attach chat)[\s\S]*(ready|got)/);
  });
}

async function start(home: TestHome): Promise<{ pid: number; id: string }> {
  const session = await home.json<{ pid: number; id: string }>(["run", "--host", "native", "--name", "chat", "--", "sh", "-c", PROGRAM]);
  await home.ok(["wait", "chat", "--for", "output=ready"]);
  return session;
}

/** The terminal has its old screen, echoes, and its modes are off. */
async function isAsFound(terminal: Terminal): Promise<void> {
  const screen = await terminal.shows("before");
  expect(screen).not.toContain("got");
  await terminal.command("echo typed-$((1+1))");
  await terminal.shows("echo typed-$((1+1))");
  await terminal.shows("typed-2");
  const modes = terminal.tmux("display-message", "-p", "-t", "terminal", "#{mouse_any_flag} #{cursor_flag} #{alternate_on}");
  expect(modes.trim()).toBe("0 1 0");
}

test("typed text reaches the program, and the detach key restores the terminal", async () => {
  await using home = new TestHome();
  const { pid } = await start(home);
  using terminal = await attached(home);
  terminal.line("hello");
  await terminal.shows("got hello");
  terminal.line("mouse");
  terminal.keys("C-\\");
  await terminal.shows("chat: detached; it keeps running");
  await isAsFound(terminal);
  expect(await home.session("chat")).toMatchObject({ status: "working", pid });
});

test("the session takes the terminal's size, also when it changes", async () => {
  await using home = new TestHome();
  await start(home);
  using terminal = await attached(home);
  await terminal.shows("20 90");
  terminal.resize(70, 15);
  await terminal.shows("15 70");
});

test("an observer types nothing and resizes nothing", async () => {
  await using home = new TestHome();
  await start(home);
  using terminal = await attached(home, "--read-only");
  terminal.line("not me");
  await home.ok(["send", "chat", "but me"]);
  const screen = await terminal.shows("got but me");
  expect(screen).not.toContain("not me");
  expect(await home.json(["screen", "chat"])).toMatchObject({ columns: 120, rows: 40 });
  terminal.keys("C-\\");
  await terminal.shows("detached");
});

test("the alternate screen is shown, also to a later attachment, and left again", async () => {
  await using home = new TestHome();
  await start(home);
  using terminal = await attached(home);
  terminal.line("one");
  await terminal.shows("got one");
  terminal.line("alt");
  await terminal.shows("in the alternate screen");
  using later = new Terminal({ env: home.env, columns: 90, rows: 20 });
  await later.command(`${HOLDFAST} attach chat`);
  expect(await later.shows("in the alternate screen")).not.toContain("got one");
  terminal.line("back");
  for (const each of [terminal, later]) expect(await each.shows("got one")).not.toContain("in the alternate screen");
  terminal.keys("C-\\");
  await isAsFound(terminal);
});

test("a daemon kill does not disturb an attachment", async () => {
  await using home = new TestHome();
  await start(home);
  using terminal = await attached(home);
  await home.killDaemon();
  terminal.line("still there");
  await terminal.shows("got still there");
  expect(await home.ok(["detach", "chat"])).toContain("1 terminal");
  await terminal.shows("chat: detached");
});

test("the terminal is restored when the program ends, and when the holder is killed", async () => {
  await using home = new TestHome();
  await start(home);
  using terminal = await attached(home);
  terminal.line("mouse");
  await home.ok(["stop", "chat"]);
  await terminal.shows(/chat: was ended by SIG(TERM|HUP|KILL)/);
  await isAsFound(terminal);

  await home.ok(["rm", "chat"]);
  await start(home);
  using other = await attached(home);
  other.line("alt");
  await other.shows("in the alternate screen");
  other.line("mouse");
  const [file = ""] = readdirSync(path.join(home.path, "holders"));
  process.kill((JSON.parse(readFileSync(path.join(home.path, "holders", file), "utf8")) as { pid: number }).pid, "SIGKILL");
  await other.shows("chat: lost its holder");
  await isAsFound(other);
  await eventually(async () => (await home.session("chat")).status === "lost");
});

test("an attached terminal reports how the program ended", async () => {
  await using home = new TestHome();
  await home.ok(["run", "--host", "native", "--name", "chat", "--", "sh", "-c", "echo ready; read -r line; exit 3"]);
  using terminal = await attached(home);
  terminal.line("");
  await terminal.shows("chat: ended with exit code 3");
});
