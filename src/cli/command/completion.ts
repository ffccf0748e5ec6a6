import type { Command } from 'commander';

export type Shell = 'bash' | 'zsh' | 'fish';

/** A script that completes commands and flags; made from the commands themselves, so that it is never behind. */
export function completionScript(program: Command, shell: Shell): string {
  const words = program.commands.map((command) => ({
    name: command.name(),
    description: command.description(),
    flags: command.options.map((option) => option.long ?? option.short ?? ''),
  }));
  if (shell === 'fish') return fish(words);
  const bash = bashScript(words);
  return shell === 'zsh' ? `autoload -U +X bashcompinit && bashcompinit\n${bash}` : bash;
}

interface Words {
  readonly name: string;
  readonly description: string;
  readonly flags: readonly string[];
}

function bashScript(commands: readonly Words[]): string {
  const cases = commands.map(({ name, flags }) => `    ${name}) words="${flags.join(' ')}" ;;`).join('\n');
  return `_graphstead() {
  local word="\${COMP_WORDS[COMP_CWORD]}" words
  case "\${COMP_WORDS[1]}" in
${cases}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words="${commands.map(({ name }) => name).join(' ')}"; fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [ "$COMP_CWORD" -gt 1 ] && [ "\${word#-}" = "$word" ]; then COMPREPLY+=($(compgen -f -- "$word")); fi
}
complete -F _graphstead graphstead
`;
}

function fish(commands: readonly Words[]): string {
  const quoted = (text: string) => `'${text.replace(/['\\]/g, '\\$&')}'`;
  const lines = commands.flatMap(({ name, description, flags }) => [
    `complete -c graphstead -n __fish_use_subcommand -a ${name} -d ${quoted(description)}`,
    ...flags.map((flag) => `complete -c graphstead -n '__fish_seen_subcommand_from ${name}' -l ${flag.slice(2)}`),
  ]);
  return `${lines.join('\n')}\n`;
}
