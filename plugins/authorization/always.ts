import type { AuthorizationResult, Authorizer, UserRules } from 'kubenest/sdk';

/** `--authorization-mode=AlwaysAllow`: allows all requests. */
export class AlwaysAllow implements Authorizer {
  readonly name = 'AlwaysAllow';

  authorize(): AuthorizationResult {
    return { decision: 'Allow', reason: '' };
  }

  rulesFor(): UserRules {
    const all = ['*'];
    return {
      resourceRules: [{ verbs: all, apiGroups: all, resources: all }],
      nonResourceRules: [{ verbs: all, nonResourceURLs: all }],
      incomplete: false,
      errors: [],
    };
  }
}

/** `--authorization-mode=AlwaysDeny`: has no opinion on any request. */
export class AlwaysDeny implements Authorizer {
  readonly name = 'AlwaysDeny';

  authorize(): AuthorizationResult {
    return { decision: 'NoOpinion', reason: 'Everything is forbidden.' };
  }

  rulesFor(): UserRules {
    return { resourceRules: [], nonResourceRules: [], incomplete: false, errors: [] };
  }
}
