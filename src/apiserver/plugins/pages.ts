import type { Type } from '@nestjs/common';
import { type ContributedValue, type ContributionOptions, contributedValue } from '#apiserver/base/contribution';

/** HTTP pages that a package adds. */
export interface PagesOptions extends Omit<ContributionOptions, 'configuration'> {
  /** A Nest module with controllers, which can inject the same tokens as plugins. */
  readonly module: Type;
}

/**
 * Contributes web pages or other non-resource endpoints. Before a controller is called, the handler chain authenticates the
 * user and authorizes `get` (`post`, …) on the path, which RBAC grants by nonResourceURLs. Paths of the server take
 * precedence.
 */
export function pages(options: PagesOptions): ContributedValue {
  return contributedValue('Pages', options);
}
