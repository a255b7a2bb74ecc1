import { groupNames, type UserInfo } from 'kubenest/sdk';

const prefix = 'system:node:';

/** The name of the node that a user is; undefined if it is none. Upstream: kubernetes/pkg/auth/nodeidentifier. */
export function nodeNameOf({ name, groups }: UserInfo): string | undefined {
  return name.startsWith(prefix) && groups.includes(groupNames.nodes) ? name.slice(prefix.length) : undefined;
}
