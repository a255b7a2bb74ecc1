import { redactSecrets } from '#apiserver/base/secrets';
import { OptionsError } from '#cmd/options/options-error';

const storeErrors: ReadonlySet<string> = new Set(['LockedStoreError', 'CorruptStoreError', 'UnavailableError']);

/** Returns the messages of an error. Errors that a user can correct consist of sentences; all others include the stack for a bug report. */
export function problemsOf(error: unknown): readonly string[] {
  return textsOf(error).map(redactSecrets);
}

function textsOf(error: unknown): readonly string[] {
  if (error instanceof OptionsError) return error.problems;
  const { code, name, message, stack } = error as NodeJS.ErrnoException;
  if (name === 'ConfigurationError') return message.split('\n');
  const isExpected = storeErrors.has(name) || code !== undefined;
  return [isExpected ? message : (stack ?? message)];
}
