import type { Listening, Sharing } from "@holdfast/contract/access/access";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Command, Context } from "../command.ts";
import { warn } from "../connection/connect.ts";
import { remoteUrl } from "../connection/running.ts";

export const command: Command = {
  name: "up",
  summary: "start the daemon if it is not running",
  section: "Administration",
  usage: "[--listen 127.0.0.1:PORT [--insecure-public] | --no-listen] [--share GROUP | --no-share]",
  description:
    "Other commands start the daemon when they need it. With --listen the daemon also serves HTTP, SSE and WebSocket over TCP, always with a token; the next daemon remembers the address. Port 0 picks a free port.\n\nWith --share, members of a Unix group on this machine reach the daemon through a second socket, always with a token. They set HOLDFAST_URL and HOLDFAST_TOKEN; then every command, including attach, uses your daemon.",
  flags: {
    listen: { value: "ADDRESS", summary: "also listen on this address, from now on", complete: "nothing" },
    "no-listen": { summary: "stop listening on TCP" },
    share: { value: "GROUP", summary: "share with the users of this Unix group, from now on", complete: "nothing" },
    "no-share": { summary: "stop sharing" },
    "insecure-public": { summary: "with --listen: allow an address that other machines reach; tokens and output are not encrypted" },
  },
  examples: [
    ["holdfast up", "start the daemon; print its pid and home"],
    ["holdfast up --share dev", "share with the users of group dev; see holdfast token"],
    ["holdfast up --listen 127.0.0.1:8080", "listen for browsers and programs; see holdfast token"],
    ["holdfast up --no-listen", "only use the Unix socket"],
  ],
  async run(context) {
    await setListening(context);
    await setSharing(context);
    const status = await context.client.call("status", {});
    if (context.json) process.stdout.write(`${JSON.stringify(status)}\n`);
    else {
      process.stdout.write(`The daemon is running: pid ${status.pid}, version ${status.version}, home ${status.home}\n`);
      if (status.listen) process.stdout.write(`${listenLine(status.listen)}\n`);
      if (status.share) process.stdout.write(`${shareLine(status.share)}\n`);
      warn(status.warnings);
    }
    // For a remote daemon, logging out is that machine's concern.
    if (remoteUrl() === undefined) await warnOfLogout();
    return 0;
  },
};

async function setListening({ flags, client }: Context): Promise<void> {
  const address = flags.text("listen");
  if (
    flags.has("no-listen") ? address !== undefined || flags.has("insecure-public") : flags.has("insecure-public") && address === undefined
  ) {
    throw new HoldfastError("usage", "--listen ADDRESS [--insecure-public], or --no-listen", { hint: "see: holdfast up --help" });
  }
  if (address === undefined && !flags.has("no-listen")) return;
  await client.call("setListening", { body: { address: address ?? null, insecurePublic: flags.has("insecure-public") } });
}

async function setSharing({ flags, client }: Context): Promise<void> {
  const group = flags.text("share");
  if (group !== undefined && flags.has("no-share"))
    throw new HoldfastError("usage", "--share GROUP, or --no-share", { hint: "see: holdfast up --help" });
  if (group === undefined && !flags.has("no-share")) return;
  await client.call("setSharing", { body: { group: group ?? null } });
}

export function shareLine({ group, url, error }: Sharing): string {
  if (error !== null) return `It is not shared with group ${group}: ${error}; retrying`;
  return `It is shared with the users of ${group} who have a token: HOLDFAST_URL=${url}`;
}

export function listenLine(listen: Listening): string {
  if (listen.error !== null) return `It does not listen on ${listen.address}: ${listen.error}; retrying`;
  return `It listens on ${listen.url}, for requests with a token${listen.public ? "; other machines can reach it, and nothing is encrypted" : ""}`;
}

async function warnOfLogout(): Promise<void> {
  const { logoutEnds } = await import("@holdfast/platform");
  const { ends, what, remedy } = await logoutEnds();
  if (ends !== "nothing") process.stderr.write(`holdfast: ${what}, sessions with them; to keep them: ${remedy}\n`);
}
