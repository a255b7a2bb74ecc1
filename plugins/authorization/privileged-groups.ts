import { type AuthorizationAttributes, type AuthorizationResult, type Authorizer, groupNames } from 'kubenest/sdk';

const allow: AuthorizationResult = { decision: 'Allow', reason: '' };
const noOpinion: AuthorizationResult = { decision: 'NoOpinion', reason: '' };

/**
 * Allows members of system:masters everything, regardless of the authorization modes, as a last resort for administrators.
 * Upstream: authorization/authorizerfactory.
 */
export class PrivilegedGroups implements Authorizer {
  readonly name = 'PrivilegedGroups';

  authorize({ user }: AuthorizationAttributes): AuthorizationResult {
    return user.groups.includes(groupNames.privileged) ? allow : noOpinion;
  }
}
