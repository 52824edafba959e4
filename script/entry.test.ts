import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import os from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { ERRORS } from "@holdfast/contract/errors";
import { MINIMUM_NODE } from "@holdfast/contract/version";
import { transform } from "esbuild";
import { expect, onTestFinished, test } from "vitest";

const entry = path.join(import.meta.dirname, "entry.cjs");

test("the entry is in syntax that old Nodes can read", async () => {
  // esbuild refuses syntax that it would have to rewrite for ES5, such as const, arrow functions and template strings.
  await expect(transform(fs.readFileSync(entry, "utf8"), { target: "es5" })).resolves.toHaveProperty("warnings", []);
});

test("an old Node gets one clear line and its own exit code", () => {
  const { status, stdout, stderr } = startAs("20.20.2");
  expect(status).toBe(ERRORS.node_too_old.exit);
  expect(stdout).toBe("");
  expect(stderr).toBe(
    `holdfast: needs Node ${MINIMUM_NODE} or newer, this is 20.20.2 (${process.execPath}); ` +
      "install a newer Node, or name one in HOLDFAST_NODE\n",
  );
});

test("with --json an old Node prints the error as JSON, unless --json belongs to the program", () => {
  const told = startAs("20.20.2", {}, ["ls", "--json"]);
  expect(told.status).toBe(ERRORS.node_too_old.exit);
  expect(JSON.parse(told.stderr)).toEqual({
    error: { code: "node_too_old", message: expect.stringContaining("20.20.2"), hint: expect.stringContaining("HOLDFAST_NODE") },
  });
  expect(startAs("20.20.2", {}, ["run", "--", "x", "--json"]).stderr).toMatch(/^holdfast: needs/);
});

test("the oldest Node that is new enough gets the CLI", () => {
  expect(startAs(`${MINIMUM_NODE}.0.0`)).toMatchObject({ status: 0, stdout: "the CLI\n", stderr: "" });
});

test("a command with its own bundle runs that bundle, and all other commands run the CLI", () => {
  using entry = new Entry('console.log("the CLI", process.argv[2]);');
  entry.addCli("ls", 'console.log("the list");');
  expect(entry.run("ls").stdout).toBe("the list\n");
  expect(entry.run("show").stdout).toBe("the CLI show\n");
  expect(entry.run("../ls").stdout).toBe("the CLI ../ls\n");
});

test("the CLI starts where no compile cache can be kept", () => {
  expect(startAs("26.0.0", { XDG_CACHE_HOME: "/dev/null" })).toMatchObject({ status: 0, stdout: "the CLI\n", stderr: "" });
});

test("the code of a command is cached for its next run, and discarded when it is damaged or from another build", () => {
  using entry = new Entry('console.log("the CLI", process.argv[2]);');
  expect(entry.run("ls").stdout).toBe("the CLI ls\n");
  expect(entry.run("/etc/passwd").stdout).toBe("the CLI /etc/passwd\n");
  const [ls = "", other = ""] = entry.kept();
  expect([ls, other]).toEqual([expect.stringMatching(/^\d+-\d+\.ls$/), expect.stringMatching(/^\d+-\d+\.other$/)]);

  const good = entry.read(ls);
  entry.write(ls, good.subarray(0, good.length / 2));
  expect(entry.run("ls").stdout).toBe("the CLI ls\n");
  expect(entry.read(ls).length).toBe(good.length);

  entry.replaceCli('console.log("new CLI", process.argv[2]);');
  expect(entry.run("ls").stdout).toBe("new CLI ls\n");
  expect(entry.kept()).toHaveLength(3);
});

test("a program that replaces itself keeps its cached code", () => {
  using entry = new Entry('process.execve("/bin/echo", ["echo", "became"], {});');
  expect(entry.run("attach").stdout).toBe("became\n");
  expect(entry.kept()).toEqual([expect.stringMatching(/\.attach$/)]);
});

test("set-up with nothing missing prints nothing", () => {
  const setup = path.join(import.meta.dirname, "setup.mjs");
  const code = `import { ensure } from ${JSON.stringify(setup)}; await ensure();`;
  expect(
    execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }),
  ).toBe("");
});

/** Starts the entry beside a stand-in CLI, with a Node that reports another version. */
function startAs(version: string, env: Record<string, string> = {}, args: string[] = []) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-entry-"));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  fs.copyFileSync(entry, path.join(folder, "holdfast.cjs"));
  fs.writeFileSync(path.join(folder, "cli.cjs"), 'console.log("the CLI");');
  fs.writeFileSync(path.join(folder, "pretend.cjs"), `Object.defineProperty(process, "versions", { value: { node: "${version}" } });`);
  return spawnSync(process.execPath, ["-r", path.join(folder, "pretend.cjs"), path.join(folder, "holdfast.cjs"), ...args], {
    encoding: "utf8",
    env: { ...process.env, XDG_CACHE_HOME: folder, ...env },
  });
}

/** The entry with a stand-in CLI and its own cache. */
class Entry implements Disposable {
  readonly #folder = fs.mkdtempSync(path.join(os.tmpdir(), "holdfast-entry-"));

  constructor(cli: string) {
    fs.copyFileSync(entry, path.join(this.#folder, "holdfast.cjs"));
    this.replaceCli(cli);
  }

  /** As a build does: a new file, renamed into place. */
  replaceCli(text: string): void {
    fs.writeFileSync(path.join(this.#folder, "new.cjs"), text);
    fs.renameSync(path.join(this.#folder, "new.cjs"), path.join(this.#folder, "cli.cjs"));
  }

  addCli(command: string, text: string): void {
    fs.writeFileSync(path.join(this.#folder, `cli.${command}.cjs`), text);
  }

  run(...args: string[]) {
    const env = { ...process.env, XDG_CACHE_HOME: this.#folder };
    return spawnSync(process.execPath, [path.join(this.#folder, "holdfast.cjs"), ...args], { encoding: "utf8", env });
  }

  kept(): string[] {
    return fs.readdirSync(path.join(this.#folder, "holdfast/code")).sort();
  }

  read(name: string): Buffer {
    return fs.readFileSync(path.join(this.#folder, "holdfast/code", name));
  }

  write(name: string, bytes: Uint8Array): void {
    fs.writeFileSync(path.join(this.#folder, "holdfast/code", name), bytes);
  }

  [Symbol.dispose](): void {
    fs.rmSync(this.#folder, { recursive: true });
  }
}

test("set-up fails soon when the registry does not answer, and says what to do", { timeout: 60_000 }, async () => {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), "hf-"));
  // Accepts every connection and never answers.
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  onTestFinished(() => {
    silent.close();
    fs.rmSync(directory, { recursive: true, force: true });
  });
  await once(silent, "listening");
  const registry = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
  fs.cpSync(import.meta.dirname, path.join(directory, "script"), { recursive: true });
  fs.mkdirSync(path.join(directory, "node_modules"));
  const dependencies = { left: "1.0.0" };
  const manifest = { name: "x", version: "1.0.0", dependencies };
  const left = { version: "1.0.0", resolved: `${registry}left/-/left-1.0.0.tgz` };
  const lock = { ...manifest, lockfileVersion: 3, packages: { "": manifest, "node_modules/left": left } };
  fs.writeFileSync(path.join(directory, "package.json"), JSON.stringify(manifest));
  fs.writeFileSync(path.join(directory, "package-lock.json"), JSON.stringify(lock));
  const env = { PATH: process.env.PATH, HOME: directory, npm_config_registry: registry, npm_config_fetch_timeout: "500" };
  const child = spawn(process.execPath, [path.join(directory, "script/setup.mjs")], { env, stdio: ["ignore", "ignore", "pipe"] });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect(code).toBe(1);
  expect(stderr.trimEnd().split("\n").at(-1)).toMatch(
    /^holdfast: npm ci failed with \d+; .*\.npmrc.* try again, or run it in .* yourself$/,
  );
});
