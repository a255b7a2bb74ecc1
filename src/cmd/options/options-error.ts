/** Contains all problems of the options, one sentence each. */
export class OptionsError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'OptionsError';
  }
}
