import { quote, quoteList } from '#apimachinery/runtime/quote';
import { aggregate, fieldPath } from '#apimachinery/validation/field';
import { isDomainPrefixedPath, nameIsDNSSubdomain } from '#apimachinery/validation/names';
import { groupNames, type UserInfo, userNames } from '#apiserver/request/user-info';
import { nodeOfServiceAccount, serviceAccountOf } from '#apiserver/authentication/service-accounts';
import { forbiddenError } from '#apiserver/authorization/authorization.guard';
import type { AuthorizationAttributes, Authorizer } from '#apiserver/authorization/authorizer';

/** An impersonated user and the verb that permitted it; undefined for the legacy verb `impersonate`. */
export interface Impersonated {
  readonly user: UserInfo;
  readonly constraint: string;
}

/** Tries to impersonate a user. Resolves to undefined if the mode does not apply to the user. Rejects with Forbidden. */
type Mode = (wanted: UserInfo, request: AuthorizationAttributes) => Promise<Impersonated | undefined>;

const nodePrefix = 'system:node:';
const nodeKeysKey = 'authentication.kubernetes.io/associated-node-keys';
const authenticationGroup = 'authentication.k8s.io';
/** Number of checks from which a single check for all of them is tried first. */
const manyChecks = 4;
const maxRemembered = 10_000;

/**
 * Decides whom a user may impersonate. The constrained modes require two permissions, `impersonate-on:MODE:VERB` on the
 * requested resource and `impersonate:MODE` on the user; the last mode requires only the legacy verb `impersonate`. The
 * first mode that permits the request is used, and is tried first for the next request of the impersonator. If all modes
 * deny it, the first denial is returned.
 *
 * | mode | impersonated user |
 * |---|---|
 * | associated-node | the node of the pod that the impersonating service account belongs to |
 * | arbitrary-node | a node |
 * | serviceaccount | a service account |
 * | user-info | other users, with groups, uid and extra |
 *
 * Upstream: apiserver/pkg/endpoints/filters/impersonation (constrained_impersonation.go, mode.go).
 */
export class ImpersonationModes {
  readonly #modes: readonly Mode[];
  /** The mode that last permitted a request, by the impersonator's name. */
  readonly #last = new Map<string, number>();

  /** Without `isConstrained`, only the legacy verb counts. */
  constructor(authorizer: Authorizer, isConstrained: boolean) {
    const constrainedModes = [
      associatedNode(authorizer),
      constrained(authorizer, 'arbitrary-node', (wanted) => hasOnlyName(wanted) && nodeName(wanted.name) !== undefined),
      constrained(authorizer, 'serviceaccount', (wanted) => hasOnlyName(wanted) && serviceAccountOf(wanted.name) !== undefined),
      constrained(authorizer, 'user-info', ({ name }) => nodeName(name) === undefined && serviceAccountOf(name) === undefined),
    ];
    const legacy: Mode = (wanted, request) => impersonate(authorizer, '', wanted, request.user);
    this.#modes = isConstrained ? [...constrainedModes, legacy] : [legacy];
  }

  /** `request` has the attributes of the request with the impersonator as user. Rejects with Forbidden. */
  async impersonate(wanted: UserInfo, request: AuthorizationAttributes): Promise<Impersonated> {
    const last = this.#last.get(request.user.name);
    const order = last === undefined ? this.#modes.keys() : [last, ...[...this.#modes.keys()].filter((index) => index !== last)];
    let refusal: unknown;
    for (const index of order) {
      try {
        const impersonated = await (this.#modes[index] as Mode)(wanted, request);
        if (!impersonated) continue;
        this.#remember(request.user.name, index);
        return impersonated;
      } catch (error) {
        refusal ??= error;
      }
    }
    throw refusal;
  }

  #remember(name: string, index: number): void {
    this.#last.delete(name);
    if (this.#last.size >= maxRemembered) this.#last.delete(this.#last.keys().next().value as string);
    this.#last.set(name, index);
  }
}

function constrained(authorizer: Authorizer, mode: string, fits: (wanted: UserInfo, by: UserInfo) => boolean): Mode {
  return async (wanted, request) => {
    if (!fits(wanted, request.user)) return undefined;
    await check(authorizer, { ...request, verb: `impersonate-on:${mode}:${request.verb}` });
    return impersonate(authorizer, `impersonate:${mode}`, wanted, request.user);
  };
}

/**
 * Checks the permission for the nodes of a service account's pods. It covers every node, and only the keys of the
 * impersonator's extra are passed to the authorizer.
 */
function associatedNode(authorizer: Authorizer): Mode {
  const anonymized: Authorizer = {
    name: authorizer.name,
    authorize: (attributes) =>
      authorizer.authorize({
        ...attributes,
        user: { ...attributes.user, extra: { [nodeKeysKey]: Object.keys(attributes.user.extra ?? {}).sort() } },
        name: attributes.verb === 'impersonate:associated-node' ? '*' : attributes.name,
      }),
  };
  return constrained(anonymized, 'associated-node', (wanted, by) => {
    const node = nodeName(wanted.name);
    return hasOnlyName(wanted) && node !== undefined && nodeOfServiceAccount(by) === node;
  });
}

/**
 * Checks the permissions for the name, uid, groups and extra of a user. `verb` is the verb of a constrained mode; empty
 * stands for `impersonate`.
 */
async function impersonate(authorizer: Authorizer, verb: string, wanted: UserInfo, by: UserInfo): Promise<Impersonated> {
  const isConstrained = verb !== '';
  const attributes = (apiGroup: string, resource: string, name: string): AuthorizationAttributes => ({
    user: by,
    verb: verb || 'impersonate',
    isResourceRequest: true,
    apiGroup,
    apiVersion: 'v1',
    resource,
    subresource: '',
    namespace: '',
    name,
    path: '',
  });
  const group = isConstrained ? authenticationGroup : '';
  const allowed = async (asked: AuthorizationAttributes): Promise<boolean> => (await authorizer.authorize(asked)).decision === 'Allow';

  let { groups } = wanted;
  const user = attributes(group, 'users', wanted.name);
  const node = isConstrained ? nodeName(wanted.name) : undefined;
  const account = serviceAccountOf(wanted.name);
  let named = user;
  if (node !== undefined) {
    named = { ...user, resource: 'nodes', name: node };
    if (groups.length > 0) throw forbiddenError(named, `when impersonating a node, cannot impersonate groups ${quoteList(groups)}`);
    groups = [groupNames.nodes];
  } else if (account) {
    named = { ...user, resource: 'serviceaccounts', namespace: account.namespace, name: account.name };
    if (isConstrained && groups.length > 0)
      throw forbiddenError(named, `when impersonating a service account, cannot impersonate groups ${quoteList(groups)}`);
    if (groups.length === 0) groups = [groupNames.serviceAccounts, `${groupNames.serviceAccounts}:${account.namespace}`];
  }
  await check(authorizer, named);
  if (wanted.uid) await check(authorizer, attributes(authenticationGroup, 'uids', wanted.uid));
  await checkGroups();
  await checkExtra(wanted.extra ?? {});
  return { user: { ...wanted, groups: withCommonGroup(wanted.name, groups) }, constraint: verb };

  async function checkGroups(): Promise<void> {
    const asked = attributes(group, 'groups', '');
    if (isConstrained && wanted.groups.includes('')) throw forbiddenError(asked, 'impersonating the empty string group is not allowed');
    if (isConstrained && wanted.groups.includes(groupNames.privileged)) {
      throw forbiddenError({ ...asked, name: groupNames.privileged }, 'impersonating the system:masters group is not allowed');
    }
    if (isConstrained && wanted.groups.length >= manyChecks && (await allowed({ ...asked, name: '*' }))) return;
    for (const name of wanted.groups) await check(authorizer, { ...asked, name });
  }

  async function checkExtra(extra: NonNullable<UserInfo['extra']>): Promise<void> {
    const asked = attributes(authenticationGroup, 'userextras', '');
    const problem = isConstrained ? extraProblem(extra) : undefined;
    if (problem !== undefined) throw forbiddenError(asked, problem);
    const pairs = Object.entries(extra).flatMap(([key, values]) => values.map((value) => [key, value] as const));
    const isLarge = isConstrained && Math.max(pairs.length, Object.keys(extra).length) >= manyChecks;
    if (isLarge && (await allowed({ ...asked, subresource: '*', name: '*' }))) return;
    for (const [subresource, name] of pairs) await check(authorizer, { ...asked, subresource, name });
  }
}

async function check(authorizer: Authorizer, attributes: AuthorizationAttributes): Promise<void> {
  const { decision, reason } = await authorizer.authorize(attributes);
  if (decision !== 'Allow') throw forbiddenError(attributes, reason);
}

function extraProblem(extra: NonNullable<UserInfo['extra']>): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed';
    const errors = isDomainPrefixedPath(fieldPath('extra', 'key'), key);
    if (errors.length > 0) return `impersonating an invalid key in extra is not allowed: ${aggregate(errors)}`;
    if (key !== key.toLowerCase()) return `impersonating a non-lowercase key in extra is not allowed: ${quote(key)}`;
    if (values.length === 0) return 'impersonating empty values in extra is not allowed';
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed';
  }
  return undefined;
}

/** Adds `system:authenticated` or `system:unauthenticated`. */
function withCommonGroup(name: string, groups: readonly string[]): readonly string[] {
  if (name !== userNames.anonymous && groups.includes(groupNames.unauthenticated)) return groups;
  const common = name === userNames.anonymous ? groupNames.unauthenticated : groupNames.authenticated;
  return groups.includes(common) ? groups : [...groups, common];
}

function nodeName(user: string): string | undefined {
  if (!user.startsWith(nodePrefix)) return undefined;
  const name = user.slice(nodePrefix.length);
  return nameIsDNSSubdomain(name, false).length === 0 ? name : undefined;
}

function hasOnlyName({ uid, groups, extra }: UserInfo): boolean {
  return !uid && groups.length === 0 && Object.keys(extra ?? {}).length === 0;
}
