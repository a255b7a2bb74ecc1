import { newBadRequest } from '#apimachinery/api/errors';
import type { UserInfo } from '#apiserver/request/user-info';
import { authorizationAttributes } from '#apiserver/authorization/authorization.guard';
import type { Authorizer } from '#apiserver/authorization/authorizer';
import { respondError } from '#apiserver/endpoints/handlers/responses';
import type { Filter, RequestContext } from '#apiserver/request/request-context';
import { headerText } from '#apiserver/request/header-text';
import { ImpersonationModes } from '#apiserver/impersonation/impersonation-modes';

const prefix = 'impersonate-';
const extraPrefix = `${prefix}extra-`;

/**
 * Replaces the user by the impersonated one (`Impersonate-User`, `-Group`, `-Uid`, `-Extra-…`) if authorized, and removes the
 * headers. `isConstrained`: the feature gate ConstrainedImpersonation. Upstream: endpoints/filters/impersonation.
 */
export function withImpersonation(authorizer: Authorizer, isConstrained: boolean): Filter {
  const modes = new ImpersonationModes(authorizer, isConstrained);
  return (next) => (context) => {
    let wanted: UserInfo | undefined;
    try {
      wanted = wantedUser(context);
    } catch (error) {
      return respondError(context, error);
    }
    if (!wanted) return next(context);
    return modes.impersonate(wanted, authorizationAttributes(context)).then(
      ({ user, constraint }) => {
        context.impersonator = context.authenticatedUser;
        context.impersonationConstraint = constraint;
        context.user = user;
        return next(context);
      },
      (error: unknown) => respondError(context, error),
    );
  };
}

/** Returns the user of the impersonation headers, which it removes; undefined without such headers. Throws BadRequest. */
function wantedUser({ exchange }: RequestContext): UserInfo | undefined {
  const names = impersonationHeaders(exchange.rawHeaders);
  if (!names) return undefined;
  const valuesOf = (header: string): string[] => exchange.headerValues(header).map(headerText);
  const [name = ''] = valuesOf('impersonate-user');
  const [uid = ''] = valuesOf('impersonate-uid');
  const groups = valuesOf('impersonate-group');
  const extra = new Map<string, string[]>();
  for (const header of names) {
    if (!header.startsWith(extraPrefix)) continue;
    const key = unescapeKey(header.slice(extraPrefix.length));
    extra.set(key, [...(extra.get(key) ?? []), ...valuesOf(header)]);
  }
  if (!name) {
    if (!uid && groups.length === 0 && extra.size === 0) return undefined;
    const asked = `&user.DefaultInfo{Name:"", UID:${JSON.stringify(uid)}, Groups:${goStrings(groups)}, Extra:${goExtra(extra)}}`;
    throw newBadRequest(`requested ${asked} without impersonating a user name`);
  }
  for (const header of names) delete exchange.headers[header];
  return { name, groups, ...(uid && { uid }), ...(extra.size > 0 && { extra: Object.fromEntries(extra) }) };
}

/** Returns the distinct impersonation header names in lower case; undefined if there are none. */
function impersonationHeaders(rawHeaders: readonly string[]): ReadonlySet<string> | undefined {
  let names: Set<string> | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at] as string;
    if (sent[0] !== 'i' && sent[0] !== 'I') continue;
    const name = sent.toLowerCase();
    if (name.startsWith(prefix)) (names ??= new Set()).add(name);
  }
  return names;
}

/** Formats texts like Go's `%#v`. */
function goStrings(texts: readonly string[]): string {
  return texts.length === 0 ? '[]string(nil)' : `[]string{${texts.map((text) => JSON.stringify(text)).join(', ')}}`;
}

function goExtra(extra: ReadonlyMap<string, readonly string[]>): string {
  if (extra.size === 0) return 'map[string][]string(nil)';
  const sorted = [...extra].sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[string][]string{${sorted.map(([key, values]) => `${JSON.stringify(key)}:${goStrings(values)}`).join(', ')}}`;
}

/**
 * Decodes a percent-encoded extra key, because header names are case-insensitive and limited. A malformed encoding is returned
 * unchanged.
 */
function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
