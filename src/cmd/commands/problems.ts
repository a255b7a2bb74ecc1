import { redactSecrets } from '#apiserver/base/secrets';
import { errorMessage } from '#apiserver/base/system-error';
import { ConfigurationError } from '#apiserver/plugins/read-configuration';
import { UnusableStoreError } from '#apiserver/storage/errors';
import { OptionsError } from '#cmd/options/options-error';

/** Returns the messages of an error. Errors that a user can correct consist of sentences; all others include the stack for a bug report. */
export function problemsOf(error: unknown): readonly string[] {
  return textsOf(error).map(redactSecrets);
}

function textsOf(error: unknown): readonly string[] {
  if (error instanceof OptionsError) return error.problems;
  if (error instanceof ConfigurationError) return error.problems;
  const { code, message, stack } = error as NodeJS.ErrnoException;
  const isExpected = error instanceof UnusableStoreError || code !== undefined;
  return [isExpected ? errorMessage(error) : (stack ?? message)];
}
