/** Turns ssh's messages into an error with a hint. */
import { HoldfastError } from "@holdfast/contract/errors";
import type { Machine } from "./machine.ts";

/** ssh's own exit code, which no Holdfast command uses. */
export const SSH_FAILED = 255;

export function sshFailure({ name: machine, destination }: Machine, said: string): HoldfastError {
  const lines = said
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^@+$/.test(line));
  const last = (lines.at(-1) ?? "the connection ended").replace(/^ssh: /, "");
  const all = lines.length > 1 ? `\n${lines.join("\n")}` : "";
  if (/host key verification failed|host identification has changed|no .* host key is known/i.test(said)) {
    return new HoldfastError("machine_refused", `the host key of ${machine} is unknown or has changed${all}`, {
      hint: `check it with ssh: ssh ${destination}`,
    });
  }
  if (/permission denied|too many authentication failures|no supported authentication|no mutual signature/i.test(said)) {
    return new HoldfastError("machine_refused", `${machine} refused the login: ${last}`, {
      hint: `make this work first: ssh ${destination}; for a login without a password, copy your key: ssh-copy-id ${destination}`,
    });
  }
  return new HoldfastError("machine_unreachable", `${machine} cannot be reached: ${last}`, {
    hint: `check that the machine is up and the name is right: ssh ${destination}`,
  });
}

/** The command may already have taken effect on the machine. */
export function connectionBroke({ name }: Machine): HoldfastError {
  return new HoldfastError("machine_lost", `the connection to ${name} broke before the answer; the result is unknown`, {
    hint: `check: holdfast -H ${name} ls`,
  });
}

/** True if ssh failed before anything ran there. Later breaks print other messages, or none. */
export function isNeverConnected(said: string): boolean {
  return /connect to host|resolve hostname|permission denied|host key|authentication|kex_exchange|banner exchange|connection (reset|closed) by \S+ port|unknown port|no route|usage: ssh/i.test(
    said,
  );
}
