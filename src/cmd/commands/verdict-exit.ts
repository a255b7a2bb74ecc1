import { type Command, CommanderError } from 'commander';

/** Makes errors of a command, also in its flags, exit with 2, because 1 is the exit code of a negative verdict. */
export function failsWith2(command: Command): Command {
  return command.exitOverride(({ exitCode, code, message }) => {
    throw new CommanderError(exitCode === 0 ? 0 : 2, code, message);
  });
}
