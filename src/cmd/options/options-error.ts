import { redactSecrets } from '#apiserver/base/secrets';

/** Contains all problems of the options, one sentence each, without secrets. */
export class OptionsError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const shown = problems.map(redactSecrets);
    super(shown.join('\n'));
    this.name = 'OptionsError';
    this.problems = shown;
  }
}
