import type { Type } from '@nestjs/common';
import { type ContributedValue, type ContributionOptions, contributedValue } from '#apiserver/base/contribution';

/** Pages that a package adds. */
export interface PagesOptions extends Omit<ContributionOptions, 'configuration'> {
  /** A Nest module with controllers. They may inject what plugins may, by the same tokens. */
  readonly module: Type;
}

/**
 * Pages for people, or anything else that is no resource. The handler chain knows who asks and whether they may `get` (`post`,
 * …) the path before a controller is called: RBAC says so by nonResourceURLs. Paths of the server's own win.
 */
export function pages(options: PagesOptions): ContributedValue {
  return contributedValue('Pages', options);
}
