/** The file from which a service manager starts the daemon at boot. */

export interface BootFile {
  /** Path of the `holdfast` program. */
  program: string;
  /** Variables that locate its files and programs, copied from the installing shell because a service starts without them. */
  env: Readonly<Record<string, string | undefined>>;
}

/** Stopping the service ends only the daemon: its sessions do not belong to the service. */
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

/** Quotes for systemd: double quotes, with specifiers doubled. A dollar sign is literal in variables and in program names. */
function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("%", "%%")}"`;
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
