/**
 * Authorization of writes of policies and bindings: a policy with parameters needs read access to all objects of the parameter kind, a
 * binding needs read access to the objects that it names. Otherwise a policy could reveal objects that its author may not read. Members of
 * system:masters are exempt. Upstream: pkg/registry/admissionregistration/{validating,mutating}admissionpolicy{,binding}/authz.go.
 */
import { type GroupVersionKind, type KubeObject, parseGroupVersion } from '#apimachinery/meta/types';
import { deepEqual } from '#apimachinery/runtime/equality';
import { type FieldError, fieldPath, forbidden } from '#apimachinery/validation/field';
import type { Policy, PolicyBinding } from '#apiserver/admission/policy/policy-types';
import { groupNames, type UserInfo } from '#apiserver/request/user-info';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import type { Informers } from '#apiserver/registry/informers';
import type { StoreHooks, WriteRequest } from '#apiserver/registry/write';
import type { RestMapper } from '#apiserver/server/rest-mapper';

/** Dependencies of the checks. */
export interface ParamAuthorizationParts {
  readonly informers: Informers;
  readonly authorizer: Authorizer;
  readonly mapper: RestMapper;
}

const group = 'admissionregistration.k8s.io';

/** Returns the store hooks by `group/resource`. */
export function paramAuthorization(parts: ParamAuthorizationParts): ReadonlyMap<string, StoreHooks> {
  return new Map(
    ['Validating', 'Mutating'].flatMap((sort): [string, StoreHooks][] => {
      const resource = `${sort.toLowerCase()}admissionpolic`;
      const checks = new ParamChecks(parts, `${resource}ies`, sort === 'Mutating');
      return [
        [`${group}/${resource}ies`, reviewed('paramKind', (policy, old, request) => checks.policy(policy, old, request))],
        [`${group}/${resource}ybindings`, reviewed('paramRef', (binding, _, request) => checks.binding(binding, request))],
      ];
    }),
  );
}

type Check = (object: KubeObject, old: KubeObject | undefined, request: WriteRequest) => Promise<string | undefined>;

/** Returns hooks that run `check` last, on objects that are valid otherwise. */
function reviewed(field: string, check: Check): StoreHooks {
  return {
    async review(object, old, request, found): Promise<readonly FieldError[]> {
      if (found.length > 0 || request.user.groups.includes(groupNames.privileged)) return found;
      const problem = await check(object, old, request);
      return problem === undefined ? found : [forbidden(fieldPath('spec', field), problem)];
    },
  };
}

/** The API resource of a kind of parameters, as far as it is known. */
interface Target {
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resource: string;
  /** The step that failed, if the resource is not known. */
  readonly unknown?: 'get policy' | 'parse paramKind' | 'resolve paramKind';
}
const anything: Target = { apiGroup: '*', apiVersion: '*', resource: '*' };

class ParamChecks {
  constructor(
    readonly parts: ParamAuthorizationParts,
    /** The resource of the policies. */
    readonly resource: string,
    /** True for mutating policies: upstream's message about their bindings has another word order. */
    readonly isMutating: boolean,
  ) {}

  /** Returns the reason why the user may not write the policy; undefined if the user may. */
  async policy({ spec = {} }: Policy, old: Policy | undefined, { user }: WriteRequest): Promise<string | undefined> {
    const { paramKind } = spec;
    if (!paramKind || (old?.spec?.paramKind && deepEqual(old.spec.paramKind, paramKind))) return undefined;
    if (await this.#allows(user, 'get', this.#targetOf(paramKind), '*', '*')) return undefined;
    const { kind = '', apiVersion = '' } = paramKind;
    return `user ${goText(user)} must have "get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
  }

  /**
   * Returns the reason why the user may not write the binding; undefined if the user may. It is checked on every write, since upstream
   * compares pointers.
   */
  async binding({ spec = {} }: PolicyBinding, { user }: WriteRequest): Promise<string | undefined> {
    const { paramRef, policyName = '' } = spec;
    if (!paramRef) return undefined;
    const policy = this.parts.informers.for<Policy>({ group, resource: this.resource }).get('', policyName);
    const { paramKind } = policy?.spec ?? {};
    const target: Target = policy ? (paramKind ? this.#targetOf(paramKind) : anything) : { ...anything, unknown: 'get policy' };
    const verb = paramRef.name ? 'get' : 'list';
    if (await this.#allows(user, verb, target, paramRef.name ?? '', paramRef.namespace ?? '')) return undefined;
    const text = goText(user);
    if (target.unknown) {
      const what = target.unknown === 'get policy' ? policyName : `&{${paramKind?.apiVersion ?? ''} ${paramKind?.kind ?? ''}}`;
      return `unable to ${target.unknown} ${what} to determine minimum required permissions and user ${text} does not have "${verb}" permission for all groups, versions and resources`;
    }
    const [who, may] = this.isMutating ? [verb, text] : [text, verb];
    return `user ${who} does not have "${may}" permission on the object referenced by paramRef`;
  }

  #targetOf({ apiVersion = '', kind = '' }: NonNullable<NonNullable<Policy['spec']>['paramKind']>): Target {
    if (apiVersion.split('/').length > 2) return { ...anything, unknown: 'parse paramKind' };
    const found: GroupVersionKind = { ...parseGroupVersion(apiVersion), kind };
    const [mapping] = this.parts.mapper.resourcesOf(found);
    const version = { apiGroup: found.group, apiVersion: found.version };
    return mapping ? { ...version, resource: mapping.resource.resource } : { ...version, resource: '*', unknown: 'resolve paramKind' };
  }

  async #allows(user: UserInfo, verb: string, { unknown: _, ...target }: Target, name: string, namespace: string): Promise<boolean> {
    const attributes = { ...target, user, verb, name, namespace, isResourceRequest: true, subresource: '', path: '' };
    return (await this.parts.authorizer.authorize(attributes)).decision === 'Allow';
  }
}

/** Formats a user as Go prints a pointer to its struct: `&{alice alice-uid [devs] map[scopes:[a b]]}`. */
function goText({ name, uid = '', groups, extra = {} }: UserInfo): string {
  const entries = Object.entries(extra).sort(([a], [b]) => (a < b ? -1 : 1));
  return `&{${name} ${uid} [${groups.join(' ')}] map[${entries.map(([key, values]) => `${key}:[${values.join(' ')}]`).join(' ')}]}`;
}
