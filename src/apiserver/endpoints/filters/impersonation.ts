import { newBadRequest } from '#apimachinery/api/errors';
import { groupNames, type UserInfo, userNames } from '#apiserver/authentication/authenticator';
import { forbiddenError } from '#apiserver/authorization/authorization.guard';
import type { AuthorizationAttributes, Authorizer } from '#apiserver/authorization/authorizer';
import { respondError } from '#apiserver/endpoints/handlers/responses';
import type { Filter, RequestContext } from '#apiserver/endpoints/request/request-context';

interface Asked {
  readonly user: UserInfo;
  readonly checks: readonly AuthorizationAttributes[];
}

const serviceAccountPrefix = 'system:serviceaccount:';

/**
 * Lets those who may act as others (`Impersonate-User`, `-Group`, `-Uid`, `-Extra-…`): each of the four is its own right to
 * the verb `impersonate`. The headers are taken off. Upstream: endpoints/filters/impersonation.
 */
export function withImpersonation(authorizer: Authorizer): Filter {
  return (next) => (context) => {
    let asked: Asked | undefined;
    try {
      asked = readHeaders(context);
    } catch (error) {
      return respondError(context, error);
    }
    if (!asked) return next(context);
    const { user, checks } = asked;
    return (async () => {
      for (const check of checks) {
        const { decision, reason } = await authorizer.authorize(check);
        if (decision !== 'Allow') return respondError(context, forbiddenError(check, reason));
      }
      context.impersonator = context.authenticatedUser;
      context.user = user;
      const { headers } = context.exchange;
      for (const name of Object.keys(headers)) if (name.startsWith('impersonate-')) delete headers[name];
      return next(context);
    })();
  };
}

/** Whom the headers name, and what has to be allowed for that; undefined without such headers. */
function readHeaders(context: RequestContext): Asked | undefined {
  const { headers } = context.exchange;
  const name = context.header('impersonate-user') ?? '';
  const uid = context.header('impersonate-uid') ?? '';
  const groups = split(headers['impersonate-group']);
  const extra = new Map<string, string[]>();
  for (const header in headers) {
    if (header.startsWith('impersonate-extra-')) extra.set(decodeKey(header.slice('impersonate-extra-'.length)), split(headers[header]));
  }
  if (!name && !uid && groups.length === 0 && extra.size === 0) return undefined;
  if (!name) throw newBadRequest(`requested ${JSON.stringify([...groups, uid, ...extra.keys()])} but no user was specified to impersonate`);

  const by = context.authenticatedUser;
  const base = {
    user: by,
    verb: 'impersonate',
    isResourceRequest: true,
    apiVersion: 'v1',
    subresource: '',
    path: '',
    apiGroup: '',
    namespace: '',
  };
  const checks: AuthorizationAttributes[] = [];
  const finalGroups = [...groups];
  const serviceAccount = name.startsWith(serviceAccountPrefix) ? name.slice(serviceAccountPrefix.length).split(':') : [];
  if (serviceAccount.length === 2) {
    const [namespace = '', account = ''] = serviceAccount;
    checks.push({ ...base, resource: 'serviceaccounts', namespace, name: account });
    if (groups.length === 0) finalGroups.push(groupNames.serviceAccounts, `${groupNames.serviceAccounts}:${namespace}`);
  } else {
    checks.push({ ...base, resource: 'users', name });
  }
  for (const group of groups) checks.push({ ...base, resource: 'groups', name: group });
  for (const [key, values] of extra) {
    for (const value of values)
      checks.push({ ...base, apiGroup: 'authentication.k8s.io', resource: 'userextras', subresource: key, name: value });
  }
  if (uid) checks.push({ ...base, apiGroup: 'authentication.k8s.io', resource: 'uids', name: uid });

  if (name === userNames.anonymous) {
    if (!finalGroups.includes(groupNames.unauthenticated)) finalGroups.push(groupNames.unauthenticated);
  } else if (!finalGroups.includes(groupNames.authenticated) && !finalGroups.includes(groupNames.unauthenticated)) {
    finalGroups.push(groupNames.authenticated);
  }
  const user = { name, groups: finalGroups, ...(uid && { uid }), ...(extra.size > 0 && { extra: Object.fromEntries(extra) }) };
  return { user, checks };
}

function split(value: string | string[] | undefined): string[] {
  if (value === undefined) return [];
  return (Array.isArray(value) ? value : value.split(',')).map((one) => one.trim()).filter(Boolean);
}

/** Header names are case-insensitive and limited: keys come percent-encoded. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key).toLowerCase();
  } catch {
    return key;
  }
}
