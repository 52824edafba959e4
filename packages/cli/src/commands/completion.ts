import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../command.ts";

/** Each script asks the program for candidates, so no list of flags or names is copied into a shell. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_holdfast() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [ "\${#COMPREPLY[@]}" -gt 0 ] || COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _holdfast holdfast hold
`,
  zsh: `#compdef holdfast hold
_holdfast() {
  local -a found
  found=("\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -a found; else _files; fi
}
compdef _holdfast holdfast hold
`,
  fish: `function __holdfast_complete
  set -l words (commandline -opc)
  set -e words[1]
  set -l found (holdfast __complete -- $words (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c holdfast -f -a '(__holdfast_complete)'
complete -c hold -f -a '(__holdfast_complete)'
`,
};

export const command: Command = {
  name: "completion",
  summary: "print the completion script for your shell",
  usage: "bash|zsh|fish",
  flags: {},
  arguments: "shells",
  examples: [
    ['eval "$(holdfast completion bash)"', "in ~/.bashrc"],
    ['eval "$(holdfast completion zsh)"', "in ~/.zshrc, after compinit"],
    ["holdfast completion fish > ~/.config/fish/completions/holdfast.fish", "once"],
  ],
  async run(context) {
    const shell = context.args[0] ?? "";
    const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
    if (!script)
      throw new HoldfastError("usage", "name a shell", {
        candidates: Object.keys(SCRIPTS),
        hint: "for example: holdfast completion bash",
      });
    process.stdout.write(context.json ? `${JSON.stringify({ shell, script })}\n` : script);
    return 0;
  },
};
