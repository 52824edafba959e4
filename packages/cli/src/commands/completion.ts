import { HoldfastError } from "@holdfast/contract/errors";
import type { Command } from "../command.ts";

/** Each script asks the program for candidates, so no list of flags or names is copied into a shell. */
const SCRIPTS: Readonly<Record<string, string>> = {
  // For a list of choices, and not for a menu that inserts them, bash gets aligned descriptions.
  bash: `_holdfast() {
  local line how=()
  case "\${COMP_TYPE-}" in 33 | 63 | 64) how=(--columns "\${COLUMNS:-80}") ;; esac
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(
    "\${COMP_WORDS[0]}" __complete \${how[@]+"\${how[@]}"} -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null
  )
  if [ "\${#COMPREPLY[@]}" -eq 0 ]; then
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")
  fi
}
complete -F _holdfast holdfast hold
`,
  zsh: `#compdef holdfast hold
_holdfast() {
  local -a found
  local line
  for line in "\${(@f)$("\${words[1]}" __complete --described -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ "$line" == *$'\\t'* ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") || found+=("\${line//:/\\\\:}")
  done
  if [[ -n "\${found[1]}" ]]; then _describe -t holdfast holdfast found; else _files; fi
}
compdef _holdfast holdfast hold
`,
  fish: `function __holdfast_complete
  set -l words (commandline -opc)
  set -e words[1]
  set -l found (holdfast __complete --described -- $words (commandline -ct) 2>/dev/null)
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
  section: "Administration",
  runsHere: true,
  usage: "bash|zsh|fish",
  arguments: "shells",
  examples: [
    ['eval "$(holdfast completion bash)"', "in ~/.bashrc"],
    ['eval "$(holdfast completion zsh)"', "in ~/.zshrc, after compinit"],
    ["holdfast completion fish > ~/.config/fish/completions/holdfast.fish", "install it for fish, once"],
  ],
  async run(context) {
    const shell = context.args[0] ?? "";
    const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
    if (!script)
      throw new HoldfastError("usage", "expected a shell", {
        candidates: Object.keys(SCRIPTS),
        hint: "for example: holdfast completion bash",
      });
    process.stdout.write(context.json ? `${JSON.stringify({ shell, script })}\n` : script);
    return 0;
  },
};
