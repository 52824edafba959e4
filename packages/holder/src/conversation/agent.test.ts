/** Files and commands that a keeper provides to its agent, only inside the workspace. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Puppet } from "../../test/puppet.ts";

let agent: Puppet;
beforeAll(async () => {
  agent = await Puppet.ready();
  writeFileSync(join(agent.root, "secret"), "secret");
  mkdirSync(join(agent.project, "src"));
  writeFileSync(join(agent.project, "a.txt"), "one\ntwo\nthree\nfour\n");
  symlinkSync("../secret", join(agent.project, "out"));
  symlinkSync("..", join(agent.project, "up"));
});
afterAll(() => agent[Symbol.asyncDispose]());

const read = (path: unknown, more: object = {}) => agent.ask("fs/read_text_file", { sessionId: "c1", path, ...more });
const write = (path: unknown, content: unknown) => agent.ask("fs/write_text_file", { sessionId: "c1", path, content });

describe("files for an agent", () => {
  test.each([
    [{}, "one\ntwo\nthree\nfour\n"],
    [{ line: 2, limit: 2 }, "two\nthree"],
    [{ line: 4 }, "four\n"],
    [{ limit: 1 }, "one"],
    [{ line: null, limit: null }, "one\ntwo\nthree\nfour\n"],
    [{ line: 0, limit: 1 }, "one"],
  ])("a file is read in part by %j", async (part, content) => {
    expect((await read(join(agent.project, "a.txt"), part)).result).toEqual({ content });
  });

  test("a file outside the workspace is neither read nor written, by any path", async () => {
    const { root, project } = agent;
    const ways = [
      "../secret",
      "/etc/passwd",
      "out",
      "up/secret",
      "up/project/../secret",
      `${project}/../secret`,
      `${project}/gone/../out`,
      `${root}/secret`,
    ];
    for (const path of [...ways, `${project}/gone/../up/secret`, `${project}/src/../up/new`, 5, null]) {
      expect((await read(path)).error, String(path)).toBeDefined();
      expect((await write(path, "mine")).error, String(path)).toBeDefined();
    }
    expect(readFileSync(join(root, "secret"), "utf8")).toBe("secret");
    expect(readdirSync(root).sort()).toEqual(["pipes", "project", "run", "secret"]);
  });

  test("a file is written completely and keeps its mode, and a failed write leaves nothing behind", async () => {
    const file = join(agent.project, "script.sh");
    writeFileSync(file, "old");
    chmodSync(file, 0o755);
    expect((await write("script.sh", "new")).result).toEqual({});
    expect(readFileSync(file, "utf8")).toBe("new");
    expect(statSync(file).mode & 0o777).toBe(0o755);
    expect((await write("src/new.ts", "export {};\n")).result).toEqual({});
    expect((await write("not/yet/there.ts", "x")).result).toEqual({});
    expect(readFileSync(join(agent.project, "not/yet/there.ts"), "utf8")).toBe("x");
    expect((await write("script.sh/new.ts", "x")).error).toBeDefined();
    expect((await write("script.sh", 5)).error?.message).toBe("the content to write is not a text");
    expect(readFileSync(file, "utf8")).toBe("new");
    expect(readdirSync(join(agent.project, "src"))).toEqual(["new.ts"]);
  });

  test("a pipe, a directory and a huge file are refused without blocking the keeper", async () => {
    execFileSync("mkfifo", [join(agent.project, "pipe")]);
    for (const path of ["pipe", "src"]) {
      expect((await read(path)).error?.message).toBe(`${path} is not a file`);
      expect((await write(path, "x")).error?.message).toBe(`${path} is not a file`);
    }
    writeFileSync(join(agent.project, "huge"), "");
    truncateSync(join(agent.project, "huge"), 17 * 1024 * 1024);
    expect((await read("huge")).error?.message).toContain("too large");
  });

  test("reading a missing file is an error", async () => {
    expect((await read("missing.txt")).error?.message).toContain("ENOENT");
  });
});

describe("commands for an agent", () => {
  const create = async (params: object) =>
    (await agent.ask("terminal/create", { sessionId: "c1", ...params })).result as { terminalId: string };
  const of = (method: string, terminalId: unknown) => agent.ask(`terminal/${method}`, { sessionId: "c1", terminalId });

  test("a command runs in the workspace with the session's environment and the requested variables", async () => {
    const { terminalId } = await create({
      command: "sh",
      args: ["-c", "pwd; echo $OF_THE_SESSION $MINE; exit 3"],
      env: [{ name: "MINE", value: "a b" }],
    });
    expect((await of("wait_for_exit", terminalId)).result).toEqual({ exitCode: 3, signal: null });
    expect((await of("output", terminalId)).result).toEqual({
      output: `${agent.project}\nyes a b\n`,
      truncated: false,
      exitStatus: { exitCode: 3, signal: null },
    });
    expect((await of("release", terminalId)).result).toEqual({});
    expect((await of("output", terminalId)).error?.message).toBe(`there is no terminal ${terminalId}`);
  });

  test("a command may be a shell line in a directory of the workspace", async () => {
    const { terminalId } = await create({ command: "echo here: $(basename $PWD)", cwd: join(agent.project, "src") });
    await of("wait_for_exit", terminalId);
    expect((await of("output", terminalId)).result).toMatchObject({ output: "here: src\n" });
  });

  test("a command outside the workspace is refused", async () => {
    for (const cwd of ["/", "..", "up", join(agent.project, "gone/../up")]) {
      expect((await agent.ask("terminal/create", { sessionId: "c1", command: "true", cwd })).error?.message, cwd).toContain(
        "outside the workspace",
      );
    }
  });

  test("the newest output within the limit is kept, from a whole character on", async () => {
    const { terminalId } = await create({ command: "printf", args: ["%s", "ab€€"], outputByteLimit: 5 });
    await of("wait_for_exit", terminalId);
    expect((await of("output", terminalId)).result).toMatchObject({ output: "€", truncated: true });
  });

  test("an invalid output limit means the default, and a huge one is capped", async () => {
    const flood = async (outputByteLimit: unknown) => {
      const { terminalId } = await create({ command: "sh", args: ["-c", "head -c 9000000 /dev/zero | tr '\\0' x"], outputByteLimit });
      await of("wait_for_exit", terminalId);
      const { output, truncated } = (await of("output", terminalId)).result as { output: string; truncated: boolean };
      await of("release", terminalId);
      return { bytes: output.length, truncated };
    };
    expect(await flood("all")).toEqual({ bytes: 1024 * 1024, truncated: true });
    expect(await flood(1e15)).toEqual({ bytes: 4 * 1024 * 1024, truncated: true });
  });

  test("killing a command ends its child processes too, first with SIGTERM, then with SIGKILL", async () => {
    const begin = async (script: string) => {
      const { terminalId } = await create({ command: "sh", args: ["-c", script] });
      await agent.until(() => (agent.agent.terminals.printed(terminalId) ?? "").endsWith("\n"));
      return { terminalId, child: Number(agent.agent.terminals.printed(terminalId)) };
    };
    const polite = await begin("trap 'exit 7' TERM; sleep 1000 & echo $!; wait");
    expect((await of("kill", polite.terminalId)).result).toEqual({});
    expect((await of("wait_for_exit", polite.terminalId)).result).toEqual({ exitCode: 7, signal: null });
    await agent.until(() => !isAlive(polite.child));
    // Killing an ended command is not an error.
    expect((await of("kill", polite.terminalId)).result).toEqual({});
    const stubborn = await begin("trap '' TERM; sleep 1000 & echo $!; wait");
    expect((await of("kill", stubborn.terminalId)).result).toEqual({});
    expect((await of("wait_for_exit", stubborn.terminalId)).result).toEqual({ exitCode: null, signal: "9" });
    await agent.until(() => !isAlive(stubborn.child));
  });

  test("a command has ended even if a process it left holds its output open, and releasing it ends that process too (mend 10)", async () => {
    const { terminalId } = await create({ command: "sh", args: ["-c", "sleep 1000 & echo $!; exit 4"] });
    expect((await of("wait_for_exit", terminalId)).result).toEqual({ exitCode: 4, signal: null });
    const child = Number(agent.agent.terminals.printed(terminalId));
    expect(isAlive(child)).toBe(true);
    expect((await of("release", terminalId)).result).toEqual({});
    await agent.until(() => !isAlive(child));
  });

  test("an invalid command is refused", async () => {
    for (const params of [
      {},
      { command: 5 },
      { command: "true", args: "none" },
      { command: "true", args: ["a\0b"] },
      { command: "true", env: [null] },
    ]) {
      expect((await agent.ask("terminal/create", { sessionId: "c1", ...params })).error, JSON.stringify(params)).toBeDefined();
    }
  });
});

test("an unsupported method is refused", async () => {
  expect((await agent.ask("fs/format_disk", {})).error).toEqual({ code: -32601, message: "fs/format_disk is not supported" });
});

test("commands end with their agent", async () => {
  await using other = await Puppet.ready();
  const { terminalId } = (await other.ask("terminal/create", { sessionId: "c1", command: "sh", args: ["-c", "echo $$; exec sleep 1000"] }))
    .result as { terminalId: string };
  await other.until(() => (other.agent.terminals.printed(terminalId) ?? "").endsWith("\n"));
  const pid = Number(other.agent.terminals.printed(terminalId));
  other.hangUp();
  await other.until(() => other.exits.length > 0);
  await other.until(() => !isAlive(pid));
  expect(other.exits).toEqual([{ code: 0, signal: 0 }]);
});

test("an agent has ended even if a process it left holds its pipes open (mend 10)", async () => {
  await using left = new Puppet({ program: "setsid sleep 1000 & echo $! >&2; echo nonsense; exit 6" });
  await left.until(() => left.exits.length > 0);
  const child = Number(left.errors.join(""));
  try {
    expect(left.exits).toEqual([{ code: 6, signal: 0 }]);
    expect(left.nonsense).toHaveLength(1);
    expect(isAlive(child)).toBe(true);
  } finally {
    process.kill(child, "SIGKILL");
  }
});

test("the end of a program that cannot be started is reported once, and killing it has no further effect", async () => {
  const path = process.env.PATH;
  await using gone = new Puppet({ program: "exec /nowhere/agent" });
  await gone.until(() => gone.exits.length > 0);
  expect(gone.exits).toEqual([{ code: 127, signal: 0 }]);
  gone.agent.kill();
  expect(process.env.PATH).toBe(path);
});

/** A zombie counts as ended. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
