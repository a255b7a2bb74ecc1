import { AuthenticationStrategy, type Credentials, groupNames, type UserInfo, userNames } from 'kubenest/sdk';

const anonymous: UserInfo = { name: userNames.anonymous, groups: [groupNames.unauthenticated] };

/** Whoever shows no credentials is system:anonymous; with conditions only on the listed paths. Upstream: authentication/request/anonymous. */
export class Anonymous extends AuthenticationStrategy {
  readonly name = 'Anonymous';

  /** `paths`: on which strangers are let in; undefined: on all. */
  constructor(readonly paths: ReadonlySet<string> | undefined = undefined) {
    super();
  }

  authenticate({ path }: Credentials): void {
    if (this.paths && !this.paths.has(path)) this.pass();
    else this.success(anonymous);
  }
}
