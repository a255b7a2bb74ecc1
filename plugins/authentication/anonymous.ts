import { AuthenticationStrategy, type Credentials, groupNames, type UserInfo, userNames } from 'kubenest/sdk';

const anonymous: UserInfo = { name: userNames.anonymous, groups: [groupNames.unauthenticated] };

/**
 * Authenticates requests without credentials as system:anonymous, optionally only on listed paths. Upstream:
 * authentication/request/anonymous.
 */
export class Anonymous extends AuthenticationStrategy {
  readonly name = 'Anonymous';

  /** `paths` lists the paths with anonymous access; undefined: all paths. */
  constructor(readonly paths: ReadonlySet<string> | undefined = undefined) {
    super();
  }

  authenticate({ path }: Credentials): void {
    if (this.paths && !this.paths.has(path)) this.pass();
    else this.success(anonymous);
  }
}
