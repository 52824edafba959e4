/** Proves the guarantees of every host (host.ts). A new host joins the list and must pass. */
import { createHash, randomBytes } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EVERY_HOST, HOSTS } from "@holdfast/contract";
import { inspect, isSameProcess } from "@holdfast/platform";
import { describe, expect, test, vi } from "vitest";
import { HostHome, LeftProcesses, recorded, says } from "../../test/host-home.ts";
import { parseKey } from "./keys.ts";

const TIMEOUT = 60_000;

/** Guarantees that also hold for adopted agents in the user's own tmux. */
describe.each(EVERY_HOST)("on the %s host", { timeout: TIMEOUT }, (name) => {
  test("a run reports its pid, its exit and every byte it wrote, with no listener (CAVE-08 hosts)", async () => {
    await using home = new HostHome(name);
    const run = await home.start("echo $$; exit 7");
    expect(await home.exited(run)).toEqual({ status: "7", signal: "" });
    await home.host.remove(run);
    expect(String(recorded(run))).toBe(`${run.pid}\r\n`);
    expect(await home.host.list()).toEqual([]);
    await home.host.remove(run);
  });

  test("a death by signal is reported by its number", async () => {
    await using home = new HostHome(name);
    expect(await home.exited(await home.start("kill -9 $$"))).toEqual({ status: "", signal: "9" });
  });

  test("a live run is listed with the program's own pid", async () => {
    await using home = new HostHome(name);
    const run = await home.start("exec sleep 60");
    expect(await home.host.list()).toEqual([{ session: run.session, run: 1, pid: run.pid, dead: false, exit: null, recording: true }]);
    await vi.waitFor(() => expect(inspect(run.pid)?.name).toBe("sleep"));
    expect(home.host.keeperPids()).not.toContain(run.pid);
    expect(home.host.keeperPids()).toHaveLength(1);
  });

  test("the recording has exactly the program's bytes, in segments of a megabyte", async () => {
    await using home = new HostHome(name);
    const bytes = randomBytes(3_000_001);
    writeFileSync(join(home.home.path, "bytes"), bytes);
    const run = await home.start(`stty -opost -echo; cat '${join(home.home.path, "bytes").replaceAll("'", `'\\''`)}'`);
    await home.exited(run);
    await home.host.remove(run);
    expect(recorded(run).equals(bytes)).toBe(true);
    expect(readFileSync(join(run.directory, "output.000000"))).toHaveLength(1 << 20);
    expect(readFileSync(join(run.directory, "output.000002"))).toHaveLength(3_000_001 - 2 * (1 << 20));
  });

  test("a program that reads raw input receives a complete megabyte", async () => {
    await using home = new HostHome(name);
    const bytes = randomBytes(1 << 20);
    const run = await home.start("stty raw -echo; printf ready; head -c 1048576 | sha256sum");
    await says(run, "ready");
    await home.host.write(run, bytes, { paste: false });
    await says(run, createHash("sha256").update(bytes).digest("hex"));
  });

  test("concurrent writes arrive one after the other, each in one piece", async () => {
    await using home = new HostHome(name);
    const run = await home.start("stty raw -echo; printf ready; exec cat");
    await says(run, "ready");
    const texts = Array.from({ length: 20 }, (_, i) => `<${String.fromCharCode(97 + i).repeat(5000)}>`);
    await Promise.all(texts.map((text) => home.host.write(run, Buffer.from(text), { paste: false })));
    await vi.waitFor(() => expect(recorded(run)).toHaveLength(5 + 20 * 5002), { timeout: 20_000 });
    expect(
      String(recorded(run))
        .slice(5)
        .match(/<[^<]*>/g)
        ?.sort(),
    ).toEqual(texts);
  });

  test("input for an ended program is refused and affects no other run", async () => {
    await using home = new HostHome(name);
    const other = await home.start("exec sleep 60");
    const run = await home.start("exit 3");
    await home.exited(run);
    const refused = { code: "session_ended" };
    await expect(home.host.write(run, Buffer.from("a\n"), { paste: false })).rejects.toMatchObject(refused);
    await expect(home.host.write(run, Buffer.from("b"), { paste: true })).rejects.toMatchObject(refused);
    await expect(home.host.press(run, [parseKey("Enter")])).rejects.toMatchObject(refused);
    expect((await home.host.list()).find(({ session }) => session === other.session)).toMatchObject({ dead: false });
    await home.host.press(other, [parseKey("C-c")]);
    expect(await home.exited(other)).toEqual({ status: "", signal: "2" });
  });

  test("a paste gets marks only if the program has asked for them", async () => {
    await using home = new HostHome(name);
    const run = await home.start("stty raw -echo; printf ready; exec cat");
    await says(run, "ready");
    await home.host.write(run, Buffer.from("plain"), { paste: true });
    await says(run, "readyplain");
    const asking = await home.start("stty raw -echo; printf '\\033[?2004hready'; exec cat");
    await says(asking, "ready");
    await vi.waitFor(async () => expect((await home.host.screen(asking)).bracketedPaste).toBe(true));
    await home.host.write(asking, Buffer.from("marked"), { paste: true });
    await says(asking, "ready\x1b[200~marked\x1b[201~");
  });

  test("keys arrive as a terminal sends them, with cursor keys in the requested mode", async () => {
    await using home = new HostHome(name);
    const run = await home.start("stty raw -echo; printf ready; exec cat -v");
    await says(run, "ready");
    await home.host.press(run, ["a", "C-c", "Up", "F5", "S-Tab", "Enter", "M-x", "é"].map(parseKey));
    await says(run, "readya^C^[[A^[[15~^[[Z^M^[xM-CM-)");
    const application = await home.start("stty raw -echo; printf '\\033[?1hready'; exec cat -v");
    await says(application, "ready");
    await vi.waitFor(async () => expect((await home.host.screen(application)).applicationCursor).toBe(true));
    await home.host.press(application, [parseKey("Up")]);
    await says(application, "ready^[OA");
  });

  test("the screen is reported with its size, cursor, title and buffer", async () => {
    await using home = new HostHome(name);
    const run = await home.start("printf 'one\\r\\n  two\\033]0;a title\\007\\033[1;31mred'; exec sleep 60");
    await vi.waitFor(async () => expect((await home.host.screen(run)).lines[1]).toBe("  twored"));
    const screen = await home.host.screen(run);
    expect(screen).toMatchObject({ columns: 80, rows: 24, cursor: { x: 8, y: 1, visible: true }, title: "a title", alternate: false });
    expect(screen.lines).toHaveLength(24);
    expect(screen.lines[0]).toBe("one");
    expect(screen.ansi).toMatch(/31(?:;1)?mred/);
    const full = await home.start("printf 'before\\033[?1049h\\033[2J\\033[Hinside\\033[?25l'; exec sleep 60");
    await vi.waitFor(async () => expect((await home.host.screen(full)).lines[0]).toBe("inside"));
    expect(await home.host.screen(full)).toMatchObject({ alternate: true, cursor: { visible: false } });
  });

  test("a terminal query is answered once", async () => {
    await using home = new HostHome(name);
    const run = await home.start("stty raw -echo min 1 time 5; printf 'x\\033[6n'; exec cat -v");
    await says(run, "^[[1;2R");
    expect(String(recorded(run)).split("^[[1;2R")).toHaveLength(2);
  });

  test("the next daemon finds the same runs and can still type into them", async () => {
    await using home = new HostHome(name);
    const run = await home.start("stty raw -echo; printf ready; exec cat");
    await says(run, "ready");
    await home.replaceHost();
    expect(await home.host.list()).toMatchObject([{ session: run.session, pid: run.pid, dead: false }]);
    await home.host.write(run, Buffer.from("again"), { paste: false });
    await says(run, "readyagain");
  });

  test("a run that ends without a daemon keeps its exit and its last output", async () => {
    await using home = new HostHome(name);
    const run = await home.start("read -r line; echo last words; exit 3");
    await home.host.write(run, Buffer.from("\r"), { paste: false });
    await home.replaceHost();
    expect(await home.exited(run)).toEqual({ status: "3", signal: "" });
    await home.host.remove(run);
    expect(String(recorded(run))).toContain("last words");
  });

  test("a run ends with its program, even if a process it left keeps the terminal open (mend 10)", async () => {
    await using home = new HostHome(name);
    // Each process leaves the process session before the program ends, to escape the hang-up. One is silent, the other keeps writing.
    const leave = (then: string) => `n=; setsid sh -c 'echo pid $$; kill -USR1 $PPID; ${then}' & until [ "$n" ]; do sleep 0.01; done`;
    const script = [`trap n=1 USR1`, leave("exec sleep 600"), leave("while sleep 0.02; do echo; done"), "echo last words", "exit 5"];
    const run = await home.start(script.join("\n"));
    expect(await home.exited(run)).toEqual({ status: "5", signal: "" });
    await home.host.remove(run);
    expect(await home.host.list()).toEqual([]);
    const said = String(recorded(run));
    using left = new LeftProcesses([...said.matchAll(/pid (\d+)/g)].map(([, pid = ""]) => pid));
    expect(said).toContain("last words\r\n");
    expect(left.alive(0)).toBe(true);
  });
});

describe.each(HOSTS)("on the %s host, which starts its own runs", { timeout: TIMEOUT }, (name) => {
  test("a new size reaches the program, the screen and the recording's size file", async () => {
    await using home = new HostHome(name);
    const run = await home.start("trap 'stty size' WINCH; stty size; while :; do sleep 0.05; done");
    await says(run, "24 80");
    await home.host.resize(run, { columns: 101, rows: 31 });
    await says(run, "31 101");
    expect(await home.host.screen(run)).toMatchObject({ columns: 101, rows: 31 });
    await vi.waitFor(() => expect(readFileSync(join(run.directory, "size"), "utf8")).toBe("101 31\n"));
  });

  test("a keeper's death is reported at once and its runs are no longer listed", async () => {
    await using home = new HostHome(name);
    const run = await home.start("exec sleep 60");
    await home.host.list();
    const lost = Promise.withResolvers<void>();
    home.host.onLost(lost.resolve);
    const [keeper = 0] = home.host.keeperPids();
    const start = inspect(keeper)?.start ?? "";
    process.kill(keeper, "SIGKILL");
    await lost.promise;
    await vi.waitFor(() => expect(isSameProcess(keeper, start)).toBe(false));
    expect(await home.host.list()).toEqual([]);
    await vi.waitFor(() => expect(inspect(run.pid)?.zombie ?? true).toBe(true), { timeout: 5000 });
  });
});
