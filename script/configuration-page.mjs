/** docs/reference/configuration.md, from the schema of the configuration. */

const TABLES = [
  ["prune", "Removal of old sessions"],
  ["groups", "Groups"],
  ["budget", "Limits for every session; an agent's own table and a start override them"],
  ["approvals", "Permission requests"],
  ["approvals.rules", "Rules that answer permission requests; the first that matches decides"],
  ["agents.background", "Sessions that start without a person attached"],
  ["agents.NAME", "An agent of your own, or changes to a built-in one"],
  ["agents.NAME.exec", "An agent that runs one command for each turn"],
  ["agents.NAME.exec.context", "Earlier turns for a command that remembers nothing"],
  ["agents.NAME.model", "An agent that is a model behind an API"],
  ["agents.NAME.model.context", "Earlier turns for the model"],
  ["agents.NAME.budget", "Limits for each session of this agent"],
  ["agents.NAME.background", "Sessions of this agent that start without a person attached"],
  ["agents.NAME.screen", "Rules that read the status from the agent's screen"],
  ["mcp", "The MCP server of Holdfast"],
  ["mcp.NAME", "An MCP server for agents"],
  ["prices.MODEL", "The price of a model"],
  ["machines.NAME", "A machine for `holdfast -H NAME`"],
  ["workspace", "Workspaces of this project"],
];

export function configurationPage({ user, project, lists }) {
  return `# Configuration

Generated from the schema by \`npm run openapi\`.

Your configuration is \`~/.config/holdfast/config.toml\`, or \`$XDG_CONFIG_HOME/holdfast/config.toml\`. A project's own settings are in
\`.holdfast/config.toml\` at the top of its repository. Both files are TOML, and every key is optional.

\`\`\`sh
holdfast config show
holdfast config get prune.age
holdfast config set prune.age 7d
holdfast config edit
holdfast config check
holdfast config path
\`\`\`

The daemon reads your configuration when it starts. After a change, run \`holdfast down\` and then \`holdfast up\`; sessions keep running.
Durations are written as \`"500ms"\`, \`"10s"\`, \`"5m"\`, \`"2h"\` or \`"30d"\`. Sizes are written as \`"64M"\` or \`"10G"\`.

## config.toml

${sections(user, lists)}

## .holdfast/config.toml

Commands and copies of a project need your trust before they run: see \`holdfast trust\`.

${sections(project, lists)}
`;
}

function sections(settings, lists) {
  const tables = Map.groupBy(settings, ({ key }) => key.slice(0, Math.max(0, key.lastIndexOf("."))));
  return [...tables].map(([table, keys]) => section(table, keys, lists)).join("\n\n");
}

function section(table, keys, lists) {
  const title = TABLES.find(([name]) => name === table)?.[1];
  if (table !== "" && title === undefined) throw new Error(`script/configuration-page.mjs has no title for the table ${table}`);
  const written = lists.includes(table) ? `[[${table}]]` : `[${quoted(table)}]`;
  const head = table === "" ? "### Keys outside of tables" : `### \`${written}\`\n\n${title}.`;
  const rows = keys.map(({ key, about, takes, usual }) => {
    return `| \`${key.slice(table === "" ? 0 : table.length + 1)}\` | ${cell(about)} | ${cell(takes)} | ${usual === null ? "not set" : `\`${usual}\``} |`;
  });
  const example = [...(table === "" ? [] : [written]), ...keys.map(({ example }) => example)].join("\n");
  return `${head}\n\n| key | description | value | default |\n|---|---|---|---|\n${rows.join("\n")}\n\nExamples of each key:\n\n\`\`\`toml\n${example}\n\`\`\``;
}

function quoted(table) {
  return table.replace("prices.MODEL", 'prices."MODEL"');
}

function cell(text) {
  return text.replaceAll("|", "\\|");
}
