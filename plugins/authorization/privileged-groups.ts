import { type AuthorizationAttributes, type AuthorizationResult, type Authorizer, groupNames } from 'kubenest/sdk';

const allow: AuthorizationResult = { decision: 'Allow', reason: '' };
const noOpinion: AuthorizationResult = { decision: 'NoOpinion', reason: '' };

/** Members of system:masters may do everything, whatever the modes are: the way back in. Upstream: authorization/authorizerfactory. */
export class PrivilegedGroups implements Authorizer {
  readonly name = 'PrivilegedGroups';

  authorize({ user }: AuthorizationAttributes): AuthorizationResult {
    return user.groups.includes(groupNames.privileged) ? allow : noOpinion;
  }
}
