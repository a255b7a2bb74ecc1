import { nameIsDNSSubdomain, validateNamespaceName, validateServiceAccountName } from '#apimachinery/validation/names';
import type { UserInfo } from '#apiserver/request/user-info';

const userPrefix = 'system:serviceaccount:';
const nodeNameKey = 'authentication.kubernetes.io/node-name';

/**
 * Parses the user name of a service account; undefined for other users. Upstream: apiserver/pkg/authentication/serviceaccount
 * (SplitUsername).
 */
export function serviceAccountOf(userName: string): { readonly namespace: string; readonly name: string } | undefined {
  if (!userName.startsWith(userPrefix)) return undefined;
  const [namespace = '', name = '', ...more] = userName.slice(userPrefix.length).split(':');
  const isValid =
    more.length === 0 && validateNamespaceName(namespace, false).length === 0 && validateServiceAccountName(name, false).length === 0;
  return isValid ? { namespace, name } : undefined;
}

/** Returns the node of the pod to which a service account's token is bound; undefined for other users. */
export function nodeOfServiceAccount({ name, extra }: UserInfo): string | undefined {
  const [node, ...more] = extra?.[nodeNameKey] ?? [];
  if (node === undefined || more.length > 0 || !serviceAccountOf(name)) return undefined;
  return nameIsDNSSubdomain(node, false).length === 0 ? node : undefined;
}
