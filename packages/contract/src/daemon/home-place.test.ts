import { expect, test } from "vitest";
import { daemonSocketIn, homeIn, type PlaceFiles, shortHash, socketDirectoryOf } from "./home-place.ts";

test("the home is HOLDFAST_HOME, else in the state directory, else below HOME", () => {
  expect(homeIn({ HOLDFAST_HOME: "/h", XDG_STATE_HOME: "/s", HOME: "/u" })).toBe("/h");
  expect(homeIn({ HOLDFAST_HOME: "", XDG_STATE_HOME: "/s", HOME: "/u" })).toBe("/s/holdfast");
  expect(homeIn({ XDG_STATE_HOME: "relative", HOME: "/u" })).toBe("/u/.local/state/holdfast");
  expect(() => homeIn({})).toThrow("neither HOLDFAST_HOME nor HOME is set");
});

const UID = 1000;
const HASH = shortHash("/h");

/** Directories with their owners, and files; created directories belong to the current user. */
class Disk implements PlaceFiles {
  readonly owners = new Map<string, number>();
  readonly files = new Map<string, string>();
  made = 0;

  ownerOf(path: string): number | undefined {
    return this.owners.get(path);
  }
  read(path: string): string | undefined {
    return this.files.get(path);
  }
  makeDirectory(prefix: string): string {
    const path = `${prefix}made${++this.made}`;
    this.owners.set(path, UID);
    return path;
  }
  writeNew(path: string, text: string): void {
    if (!this.files.has(path)) this.files.set(path, text);
  }
  remove(path: string): void {
    this.files.delete(path);
  }

  find(): string {
    return socketDirectoryOf("/h", UID, this);
  }
}

test("the socket path never changes, because older clients use it", () => {
  expect(shortHash("/home/someone/.local/state/holdfast")).toBe("aafc7e70a0085516");
  expect(daemonSocketIn(new Disk().find())).toBe(`/tmp/holdfast-1000/${HASH}/daemon.sock`);
  expect(shortHash("ü漢")).toMatch(/^[0-9a-f]{16}$/);
});

test("if another user has taken the socket directory, all clients find the same alternative (mend 8)", () => {
  const disk = new Disk();
  disk.owners.set("/tmp/holdfast-1000", 1001);
  expect(disk.find()).toBe(`/tmp/holdfast-1000-made1/${HASH}`);
  expect(disk.find()).toBe(`/tmp/holdfast-1000-made1/${HASH}`);
  // Also when the name is free again and belongs to the current user, because a daemon may use the alternative.
  disk.owners.set("/tmp/holdfast-1000", UID);
  expect(disk.find()).toBe(`/tmp/holdfast-1000-made1/${HASH}`);
  // After a reboot, which empties /tmp.
  disk.owners.clear();
  expect(disk.find()).toBe(`/tmp/holdfast-1000/${HASH}`);
});

test("a foreign alternative directory and an invalid record are ignored (mend 8)", () => {
  const disk = new Disk();
  disk.owners.set("/tmp/holdfast-1000", 1001);
  disk.find();
  disk.owners.set("/tmp/holdfast-1000-made1", 1001);
  expect(disk.find()).toBe(`/tmp/holdfast-1000-made2/${HASH}`);
  for (const text of ["", "/home/evil", "/tmp/holdfast-1000-../../home/evil", "/tmp/holdfast-1000-\0"]) {
    disk.files.set("/h/socket-directory", text);
    disk.owners.set(text, UID);
    expect(disk.find()).toMatch(new RegExp(`^/tmp/holdfast-1000-made\\d+/${HASH}$`));
  }
});

test("two concurrent clients use the directory that the first recorded (mend 8)", () => {
  const disk = new Disk();
  disk.owners.set("/tmp/holdfast-1000", 1001);
  disk.owners.set("/tmp/holdfast-1000-first", UID);
  const late = Object.assign(Object.create(disk) as Disk, {
    makeDirectory(prefix: string) {
      disk.files.set("/h/socket-directory", "/tmp/holdfast-1000-first");
      return disk.makeDirectory(prefix);
    },
  });
  expect(socketDirectoryOf("/h", UID, late)).toBe(`/tmp/holdfast-1000-first/${HASH}`);
});
