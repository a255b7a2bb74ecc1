import type { DebuggingPage } from './debugging-page.ts';

/** The flags that the server runs with, in the order of their names. Upstream: apiserver/pkg/server/flagz. */
export class Flagz implements DebuggingPage {
  readonly name = 'flagz';
  readonly kind = 'Flagz';

  /** `flags`: values by names, as Go prints them; none of them is a secret. */
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
