import type { AuthorizationAttributes, AuthorizationResult, Authorizer, UserInfo, UserRules } from 'kubenest/sdk';
import { withoutTrailing } from '#sdk/internal';

/** A line of a policy file. */
export interface AbacPolicy {
  readonly user: string;
  readonly group: string;
  readonly readonly: boolean;
  readonly apiGroup: string;
  readonly resource: string;
  readonly namespace: string;
  readonly nonResourcePath: string;
}

const apiVersion = 'abac.authorization.kubernetes.io/v1beta1';
const readVerbs = ['get', 'list', 'watch'];
const allow: AuthorizationResult = { decision: 'Allow', reason: '' };
const noOpinion: AuthorizationResult = { decision: 'NoOpinion', reason: 'No policy matched.' };

/**
 * Parses a policy file: one JSON object of kind Policy on each line; empty lines and those starting with `#` are ignored.
 * Lines in the oldest format, without kind and version, apply to all API groups. Throws an error with the number of an
 * invalid line. Upstream: kubernetes/pkg/auth/authorizer/abac/abac.go, pkg/apis/abac/v0/conversion.go.
 */
export function parsePolicyFile(text: string): AbacPolicy[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    const trimmed = line.trim();
    if (trimmed === '' || trimmed.startsWith('#')) return [];
    try {
      return policyOf(JSON.parse(trimmed) as unknown);
    } catch (error) {
      throw new Error(`line ${index + 1}: ${(error as Error).message}`, { cause: error });
    }
  });
}

function policyOf(value: unknown): AbacPolicy {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('must be a JSON object');
  const line = value as Readonly<Record<string, unknown>>;
  if (line['kind'] === undefined && line['apiVersion'] === undefined) return oldPolicy(line);
  if (line['kind'] !== 'Policy' || line['apiVersion'] !== apiVersion) throw new Error(`must be of kind Policy, apiVersion ${apiVersion}`);
  const spec = line['spec'];
  if (typeof spec !== 'object' || spec === null) throw new Error('spec is missing');
  return policyFields(spec as Readonly<Record<string, unknown>>);
}

function oldPolicy(line: Readonly<Record<string, unknown>>): AbacPolicy {
  const policy = policyFields(line);
  const all = (text: string): string => text || '*';
  // A line without a subject applies to all authenticated users.
  const group = policy.user === '' && policy.group === '' ? 'system:authenticated' : policy.group;
  return {
    ...policy,
    group,
    apiGroup: '*',
    namespace: all(policy.namespace),
    resource: all(policy.resource),
    nonResourcePath: policy.resource ? '' : '*',
  };
}

function policyFields(spec: Readonly<Record<string, unknown>>): AbacPolicy {
  const text = (field: string): string => {
    const value = spec[field] ?? '';
    if (typeof value !== 'string') throw new Error(`${field} must be a string`);
    return value;
  };
  return {
    user: text('user'),
    group: text('group'),
    readonly: spec['readonly'] === true,
    apiGroup: text('apiGroup'),
    resource: text('resource'),
    namespace: text('namespace'),
    nonResourcePath: text('nonResourcePath'),
  };
}

/** `--authorization-mode=ABAC`: allows the requests granted by `--authorization-policy-file`. */
export class ABAC implements Authorizer {
  readonly name = 'ABAC';

  constructor(private readonly policies: readonly AbacPolicy[]) {}

  authorize(request: AuthorizationAttributes): AuthorizationResult {
    const matches = this.policies.some(
      (policy) => isSubject(policy, request.user) && (!policy.readonly || readVerbs.includes(request.verb)) && isWhat(policy, request),
    );
    return matches ? allow : noOpinion;
  }

  rulesFor(user: UserInfo, namespace: string): UserRules {
    const policies = this.policies.filter(
      (policy) => isSubject(policy, user) && (policy.namespace === '*' || policy.namespace === namespace),
    );
    const verbs = (policy: AbacPolicy): readonly string[] => (policy.readonly ? readVerbs : ['*']);
    return {
      resourceRules: policies
        .filter(({ resource }) => resource !== '')
        .map((policy) => ({ verbs: verbs(policy), apiGroups: [policy.apiGroup], resources: [policy.resource] })),
      nonResourceRules: policies
        .filter(({ nonResourcePath }) => nonResourcePath !== '')
        .map((policy) => ({ verbs: verbs(policy), nonResourceURLs: [policy.nonResourcePath] })),
      incomplete: false,
      errors: [],
    };
  }
}

/** True if the line applies to the user; a line with neither user nor group applies to no user. */
function isSubject({ user, group }: AbacPolicy, { name, groups }: UserInfo): boolean {
  if (user !== '' && user !== '*' && user !== name) return false;
  if (group !== '' && group !== '*' && !groups.includes(group)) return false;
  return user !== '' || group !== '';
}

function isWhat(policy: AbacPolicy, request: AuthorizationAttributes): boolean {
  const fits = (pattern: string, value: string): boolean => pattern === '*' || pattern === value;
  if (request.isResourceRequest)
    return fits(policy.namespace, request.namespace) && fits(policy.resource, request.resource) && fits(policy.apiGroup, request.apiGroup);
  const { nonResourcePath: path } = policy;
  return fits(path, request.path) || (path.endsWith('*') && request.path.startsWith(withoutTrailing(path, '*')));
}
