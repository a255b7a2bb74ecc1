import { OptionsError } from '#cmd/options/options-error';

const storeErrors: ReadonlySet<string> = new Set(['LockedStoreError', 'CorruptStoreError', 'UnavailableError']);

/** What a user can mend is told in a sentence; the rest with its stack, since it is ours to mend. */
export function problemsOf(error: unknown): readonly string[] {
  if (error instanceof OptionsError) return error.problems;
  const { code, name, message, stack } = error as NodeJS.ErrnoException;
  if (name === 'ConfigurationError') return message.split('\n');
  const isExpected = storeErrors.has(name) || code !== undefined;
  return [isExpected ? message : (stack ?? message)];
}
