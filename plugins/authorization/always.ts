import { type AuthorizationResult, type Authorizer } from 'kubenest/sdk';

/** `--authorization-mode=AlwaysAllow`. */
export class AlwaysAllow implements Authorizer {
  readonly name = 'AlwaysAllow';

  authorize(): AuthorizationResult {
    return { decision: 'Allow', reason: '' };
  }
}

/** `--authorization-mode=AlwaysDeny`. */
export class AlwaysDeny implements Authorizer {
  readonly name = 'AlwaysDeny';

  authorize(): AuthorizationResult {
    return { decision: 'NoOpinion', reason: 'Everything is forbidden.' };
  }
}
