import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Screen, Session } from "@holdfast/contract";
import { inspect } from "@holdfast/platform";
import { describe, expect, test } from "vitest";
import { TestHome } from "./home.ts";
import { mostResidentBytes } from "./proc.ts";

describe.each(["tmux", "native"])("on the %s host", (host) => {
  const start = (home: TestHome, script: string) => home.json<Session>(["run", "--host", host, "--name", "it", "--", "sh", "-c", script]);

  test("send types a line and Enter, and keys press keys", async () => {
    await using home = new TestHome();
    await start(home, 'stty -echo; echo ready; read -r line; echo "got <$line>"; exec cat');
    await home.ok(["wait", "it", "--for", "output=ready"]);
    await home.ok(["send", "it", "one 'line'"]);
    expect(await home.ok(["wait", "it", "--for", "output=got", "--timeout", "60s"])).toBe("got <one 'line'>\n");
    await home.ok(["keys", "it", "C-c"]);
    expect(await home.ended("it")).toMatchObject({ exit: { code: null, signal: "SIGINT" } });
  });

  test("several lines are refused for a program without bracketed paste, and pasted in one piece otherwise", async () => {
    await using home = new TestHome();
    await start(home, "stty raw -echo; echo ready; read -r x; printf '\\033[?2004hasked'; exec cat -v");
    await home.ok(["wait", "it", "--for", "output=ready"]);
    const refused = await home.cli(["send", "it", "one\ntwo"]);
    expect(refused.code).toBe(17);
    expect(refused.stderr).toContain("--force");
    await home.ok(["send", "it", "\n", "--no-enter", "--force"]);
    await home.ok(["keys", "it", "C-j"]);
    await home.ok(["wait", "it", "--for", "output=asked", "--timeout", "60s"]);
    const sent = await home.json<{ pasted: boolean; bytes: number }>(["send", "it", "-"], { input: "one\ntwo\x1b[201~rm -rf\n" });
    expect(sent).toMatchObject({ pasted: true, bytes: 13 });
    await home.ok(["wait", "it", "--for", "output=\\[200~one", "--timeout", "60s"]);
    expect(await home.ok(["wait", "it", "--for", "output=201~", "--timeout", "60s"])).toContain("two" + "rm -rf^[[201~^M");
  });

  test("a megabyte from standard input arrives complete", async () => {
    await using home = new TestHome();
    const text = "0123456789abcdef".repeat(1 << 16);
    await start(home, "stty raw -echo; echo ready; head -c 1048576 | sha256sum");
    await home.ok(["wait", "it", "--for", "output=ready"]);
    await home.ok(["send", "it", "-", "--no-enter"], { input: text });
    const digest = createHash("sha256").update(text).digest("hex");
    await home.ok(["wait", "it", "--for", `output=${digest}`, "--timeout", "60s"]);
  });

  test("input that a program does not read yet is reported as waiting, and arrives completely later", async () => {
    await using home = new TestHome();
    const text = "0123456789abcdef".repeat(15 << 16);
    const script = "stty raw -echo; echo ready; while ! [ -e go ]; do sleep 0.05; done; head -c 15728640 | sha256sum; exec sleep 60";
    const { pid } = await start(home, script);
    await home.ok(["wait", "it", "--for", "output=ready"]);
    const told = await home.ok(["send", "it", "-", "--no-enter"], { input: text });
    if (host === "tmux") expect(told).toBe("15 MB passed to tmux, which types them as fast as it reads\n");
    else {
      expect(told).toContain("15 MB of input are waiting: it is not reading now");
      expect(told).toContain("holdfast stop it");
      const holder = inspect(pid ?? 0)?.parent ?? 0;
      expect(mostResidentBytes(holder)).toBeLessThan(60 << 20);
      const again = await home.cli(["send", "it", "-", "--no-enter"], { input: text });
      expect(again.code).toBe(17);
      expect(again.stderr).toContain("nothing was typed: the program has not read");
      expect(again.stderr).toContain("holdfast screen it;");
      expect(await home.json(["keys", "it", "a"])).toMatchObject({ pressed: 1, waitingBytes: expect.any(Number) });
    }
    writeFileSync(path.join(home.root, "go"), "");
    const digest = createHash("sha256").update(text).digest("hex");
    await home.ok(["wait", "it", "--for", `output=${digest}`, "--timeout", "2m"]);
    if (host === "native") expect(await home.json(["send", "it", "more"])).toMatchObject({ waitingBytes: 0 });
  });

  test("input that is not UTF-8 text is refused", async () => {
    await using home = new TestHome();
    await start(home, "exec cat");
    const refused = await home.cli(["send", "it", "-"], { input: Buffer.from("caf\xe9\n", "latin1") });
    expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("not UTF-8 text; nothing was typed") });
    expect(refused.stderr).toContain("iconv");
    expect(await home.ok(["events", "--type", "session.input_requested"])).toBe("");
  });

  test("simultaneous inputs are never mixed", async () => {
    await using home = new TestHome();
    await start(home, "stty -echo -icanon; echo ready; exec cat");
    await home.ok(["wait", "it", "--for", "output=ready"]);
    const words = Array.from({ length: 8 }, (_, i) => String(i).repeat(200));
    await Promise.all(words.map((word) => home.ok(["send", "it", word])));
    for (const word of words) await home.ok(["wait", "it", "--for", `output=^${word}$`, "--timeout", "60s"]);
  });

  test("screen prints the visible text, with size, cursor and title", async () => {
    await using home = new TestHome();
    await start(home, "printf '\\033]0;the title\\007\\033[31mred\\033[0m and plain\\342\\200\\213\\342\\200\\256!'; exec sleep 60");
    await home.ok(["wait", "it", "--for", "output=!"]);
    const screen = await home.json<Screen>(["screen", "it"]);
    expect(screen).toMatchObject({ columns: 120, rows: 40, cursor: { x: 14, y: 0, visible: true }, title: "the title" });
    expect(await home.ok(["screen", "it"])).toBe("red and plain\ufffd!\n");
    expect(await home.ok(["screen", "it", "--ansi"])).toContain("31mred");
  });

  test("wait has its own exit code for a timeout, and for a session that ends without a match", async () => {
    await using home = new TestHome();
    await start(home, "while ! [ -e go ]; do sleep 0.02; done; echo bye");
    expect((await home.cli(["wait", "it", "--timeout", "50ms"])).code).toBe(16);
    const waiting = home.cli(["wait", "it", "--for", "output=hello"]);
    writeFileSync(path.join(home.root, "go"), "");
    const never = await waiting;
    expect(never.code).toBe(16);
    expect(never.stderr).toContain("ended without printing a match");
    expect(await home.ok(["wait", "it"])).toBe("it has ended: done\n");
    expect(await home.ok(["wait", "it", "--for", "output=b.e"])).toBe("bye\n");
  });
});

test.each([["exit"], ["waiting"], ["output=never"]])("wait --for %s reports that the session was removed", async (what) => {
  await using home = new TestHome();
  await home.ok(["spawn", "demo", "--name", "it"]);
  await home.ok(["wait", "it", "--for", "idle"]);
  const waiting = home.start(["wait", "it", "--for", what, "--timeout", "1m"]);
  let said = "";
  waiting.stderr.on("data", (chunk) => {
    said += chunk;
  });
  const code = new Promise((resolve) => waiting.on("close", resolve));
  // `wait` is following the session by now, and is paused until everything has happened.
  for (let asked = 0; asked < 3; asked++) await home.session("it");
  waiting.kill("SIGSTOP");
  await home.ok(["stop", "it"]);
  await home.ok(["rm", "it"]);
  waiting.kill("SIGCONT");
  expect(await code).toBe(32);
  expect(said).toMatch(/: it was removed\n.*holdfast events --session /);
});
