import type { DebuggingPage } from './debugging-page.ts';

/** Current flags, sorted by name. Upstream: apiserver/pkg/server/flagz. */
export class Flagz implements DebuggingPage {
  readonly name = 'flagz';
  readonly kind = 'Flagz';

  /** `flags` returns values by name as Go prints them, without secrets. */
  constructor(private readonly flags: () => ReadonlyMap<string, string>) {}

  fields(): object {
    return { flags: Object.fromEntries(this.#sorted()) };
  }

  text(delimiter: string): string {
    return this.#sorted()
      .map(([name, value]) => `${name}${delimiter}${value}\n`)
      .join('');
  }

  #sorted(): [string, string][] {
    return [...this.flags()].sort(([a], [b]) => (a < b ? -1 : 1));
  }
}
