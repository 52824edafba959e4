import type { Listening, Sharing } from "@holdfast/contract/access";
import { HoldfastError } from "@holdfast/contract/errors";
import type { Command, Context } from "../command.ts";
import { remoteUrl, warn } from "../connect.ts";

export const command: Command = {
  name: "up",
  summary: "start the daemon, if it does not run",
  usage: "[--listen 127.0.0.1:PORT [--insecure-public] | --no-listen] [--share GROUP | --no-share]",
  description:
    "Every command does this by itself when it needs to. With --listen the daemon is also reached over TCP, by HTTP, SSE and WebSocket,\nalways with a token; it is remembered for the next daemon. Port 0 picks a free one.\nWith --share other users of this machine who are in the group reach it by a second socket, always with a token: they set HOLDFAST_URL and\nHOLDFAST_TOKEN, and every command is for your daemon, attach too.",
  flags: {
    listen: { value: "ADDRESS", summary: "listen there too, from now on", complete: "nothing" },
    "no-listen": { summary: "do not listen on a TCP address any more" },
    share: { value: "GROUP", summary: "also for other users of this machine, those of this group, from now on", complete: "nothing" },
    "no-share": { summary: "for no other users any more" },
    "insecure-public": { summary: "with --listen: also where other machines reach it; tokens and output go unencrypted" },
  },
  examples: [
    ["holdfast up --share dev", "for the users of the group dev; see holdfast token"],
    ["holdfast up", "says its pid and home"],
    ["holdfast up --listen 127.0.0.1:8080", "for a browser or a program; see holdfast token"],
    ["holdfast up --no-listen", "only the Unix socket again"],
  ],
  async run(context) {
    await setListening(context);
    await setSharing(context);
    const status = await context.client.call("status", {});
    if (context.json) process.stdout.write(`${JSON.stringify(status)}\n`);
    else {
      process.stdout.write(`The daemon runs: pid ${status.pid}, version ${status.version}, home ${status.home}\n`);
      if (status.listen) process.stdout.write(`${listenLine(status.listen)}\n`);
      if (status.share) process.stdout.write(`${shareLine(status.share)}\n`);
      warn(status.warnings);
    }
    // What ends with a login is the machine's own matter.
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
  if (error !== null) return `It is not shared with the group ${group}: ${error}; it tries again`;
  return `It is shared with the users of ${group}, for those with a token: HOLDFAST_URL=${url}`;
}

export function listenLine(listen: Listening): string {
  if (listen.error !== null) return `It does not listen on ${listen.address}: ${listen.error}; it tries again`;
  return `It listens on ${listen.url}, for those with a token${listen.public ? "; other machines reach it, and nothing is encrypted" : ""}`;
}

async function warnOfLogout(): Promise<void> {
  const { logoutEnds } = await import("@holdfast/platform");
  const { ends, what, remedy } = await logoutEnds();
  if (ends !== "nothing") process.stderr.write(`holdfast: ${what}, sessions with them; to keep them: ${remedy}\n`);
}
