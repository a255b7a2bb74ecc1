import { type Authenticator, type Credentials, groupNames, type UserInfo, userNames } from 'kubenest/sdk';

const anonymous: UserInfo = { name: userNames.anonymous, groups: [groupNames.unauthenticated] };

/** Whoever shows no credentials is system:anonymous; with conditions only on the listed paths. Upstream: authentication/request/anonymous. */
export class Anonymous implements Authenticator {
  readonly name = 'Anonymous';

  /** `paths`: on which strangers are let in; undefined: on all. */
  constructor(readonly paths: ReadonlySet<string> | undefined = undefined) {}

  authenticate({ path }: Credentials): UserInfo | undefined {
    return this.paths && !this.paths.has(path) ? undefined : anonymous;
  }
}
