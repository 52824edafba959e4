import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempDisposableSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Home, openHome, runDirectory, secureHome, secureSocketDirectory, socketDirectoryIsSafe } from "./home.ts";

function temporary(): string {
  const directory = mkdtempDisposableSync(join(realpathSync(tmpdir()), "hf-"));
  onTestFinished(() => directory.remove());
  return directory.path;
}

function open(env: Record<string, string>): Home {
  const home = openHome(env);
  onTestFinished(() => rmSync(home.socketDirectory, { recursive: true, force: true }));
  return home;
}

const UNUSABLE = expect.objectContaining({ code: "home_unusable" });

test("HOLDFAST_HOME precedes XDG_STATE_HOME and HOME, and empty values are ignored", () => {
  const root = temporary();
  const all = { HOLDFAST_HOME: join(root, "own"), XDG_STATE_HOME: join(root, "state"), HOME: join(root, "user") };
  expect(open(all).path).toBe(join(root, "own"));
  expect(open({ ...all, HOLDFAST_HOME: "" }).path).toBe(join(root, "state", "holdfast"));
  expect(open({ HOME: all.HOME, XDG_STATE_HOME: "" }).path).toBe(join(root, "user", ".local", "state", "holdfast"));
  expect(() => openHome({})).toThrow(UNUSABLE);
});

test("a new home is private to its owner", () => {
  const home = open({ HOLDFAST_HOME: join(temporary(), "a", "b") });
  expect(statSync(home.path).mode & 0o777).toBe(0o700);
});

test("two spellings of one directory are one home, and two directories are two homes", () => {
  const root = temporary();
  mkdirSync(join(root, "real"));
  symlinkSync(join(root, "real"), join(root, "link"));
  const [real, ...others] = [join(root, "real"), join(root, "link"), `${root}/./real/../link/`].map((path) =>
    open({ HOLDFAST_HOME: path }),
  );
  for (const other of others) expect(other).toEqual(real);
  expect(open({ HOLDFAST_HOME: join(root, "other") }).socketDirectory).not.toBe(real?.socketDirectory);
});

test("socket paths are short however deep the home is", () => {
  const home = open({ HOLDFAST_HOME: join(temporary(), ...Array.from({ length: 20 }, () => "deep-directory-name")) });
  expect(home.path.length).toBeGreaterThan(300);
  expect(Math.max(home.daemonSocket.length, home.tmuxSocket.length)).toBeLessThan(100);
});

test("a home that cannot be created, or whose path contains a line break, is refused", () => {
  const root = temporary();
  writeFileSync(join(root, "file"), "");
  expect(() => openHome({ HOLDFAST_HOME: join(root, "file", "below") })).toThrow(UNUSABLE);
  expect(() => openHome({ HOLDFAST_HOME: join(root, "new\nline") })).toThrow(UNUSABLE);
  expect(() => openHome({ HOLDFAST_HOME: join(root, "escape\x1b[2J") })).toThrow(UNUSABLE);
});

test("an open home is closed to others, and a foreign home or a non-directory is refused", () => {
  const root = temporary();
  const home = open({ HOLDFAST_HOME: join(root, "home") });
  chmodSync(home.path, 0o755);
  secureHome(home);
  expect(statSync(home.path).mode & 0o777).toBe(0o700);
  writeFileSync(join(root, "file"), "");
  expect(() => secureHome({ ...home, path: join(root, "file") })).toThrow(UNUSABLE);
  if (process.getuid?.() !== 0) expect(() => secureHome({ ...home, path: "/" })).toThrow(UNUSABLE);
});

/** A home whose sockets are in a private directory of the test. */
function sockets(): Home {
  const root = temporary();
  return { ...openHome({ HOLDFAST_HOME: join(root, "home") }), socketDirectory: join(root, "holdfast-1", "hash") };
}

test("the socket directory is created once, private and safe", () => {
  const home = sockets();
  expect(socketDirectoryIsSafe(home)).toBe(false);
  secureSocketDirectory(home);
  secureSocketDirectory(home);
  expect(socketDirectoryIsSafe(home)).toBe(true);
  expect(statSync(home.socketDirectory).mode & 0o777).toBe(0o700);
});

test.each(["itself", "its parent"])("a socket directory is refused, not repaired, when others can enter %s", (which) => {
  const home = sockets();
  secureSocketDirectory(home);
  const path = which === "itself" ? home.socketDirectory : join(home.socketDirectory, "..");
  chmodSync(path, 0o711);
  expect(() => secureSocketDirectory(home)).toThrow(UNUSABLE);
  expect(() => socketDirectoryIsSafe(home)).toThrow(UNUSABLE);
  expect(statSync(path).mode & 0o777).toBe(0o711);
});

test.each(["itself", "its parent"])("a socket directory is refused when %s is a link, whatever is behind it", (which) => {
  const home = sockets();
  secureSocketDirectory(home);
  const path = which === "itself" ? home.socketDirectory : join(home.socketDirectory, "..");
  const elsewhere = temporary();
  chmodSync(elsewhere, 0o700);
  mkdirSync(join(elsewhere, "hash"), { mode: 0o700 });
  rmSync(path, { recursive: true });
  symlinkSync(elsewhere, path);
  expect(() => secureSocketDirectory(home)).toThrow(UNUSABLE);
  expect(() => socketDirectoryIsSafe(home)).toThrow(UNUSABLE);
});

test("a file in place of the socket directory is refused", () => {
  const home = sockets();
  mkdirSync(join(home.socketDirectory, ".."), { mode: 0o700 });
  writeFileSync(home.socketDirectory, "");
  expect(() => secureSocketDirectory(home)).toThrow(UNUSABLE);
  expect(existsSync(home.socketDirectory)).toBe(true);
});

test("a run's files are below its session's", () => {
  const home = open({ HOLDFAST_HOME: join(temporary(), "home") });
  expect(runDirectory(home, "abcdefghij", 3)).toBe(join(home.sessions, "abcdefghij", "runs", "3"));
});
