/** What a service manager reads to start the daemon with the machine. */

export interface BootFile {
  /** The `holdfast` that is run. */
  program: string;
  /** The variables by which it finds its files and programs, as they are where it is installed: a service is started without them. */
  env: Readonly<Record<string, string | undefined>>;
}

/** Stopping the service ends the daemon alone: what it keeps running is none of the service's. */
export function bootFile(kind: "systemd" | "launchd", file: BootFile): string {
  const env = Object.entries(file.env).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== "");
  return kind === "systemd" ? unit(file.program, env) : plist(file.program, env);
}

function unit(program: string, env: readonly (readonly [string, string])[]): string {
  return `[Unit]
Description=Holdfast keeps AI coding agents running
Documentation=man:holdfast(1)

[Service]
Type=oneshot
RemainAfterExit=yes
${env.map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`).join("\n")}
ExecStart=${quoted(program)} up
ExecStop=${quoted(program)} down
KillMode=process

[Install]
WantedBy=default.target
`;
}

/** As systemd reads it: in double quotes, with its own specifiers doubled. A dollar is one, in variables and in the name of a program. */
function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%")}"`;
}

function plist(program: string, env: readonly (readonly [string, string])[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>dev.holdfast</string>
  <key>ProgramArguments</key><array><string>${xml(program)}</string><string>up</string></array>
  <key>EnvironmentVariables</key>
  <dict>
${env.map(([name, value]) => `    <key>${xml(name)}</key><string>${xml(value)}</string>`).join("\n")}
  </dict>
  <key>RunAtLoad</key><true/>
  <key>AbandonProcessGroup</key><true/>
</dict>
</plist>
`;
}

function xml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
