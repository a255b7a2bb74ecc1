import { groupNames, type UserInfo } from 'kubenest/sdk';

const prefix = 'system:node:';

/** Returns the node name of a node's user; undefined for other users. Upstream: kubernetes/pkg/auth/nodeidentifier. */
export function nodeNameOf({ name, groups }: UserInfo): string | undefined {
  return name.startsWith(prefix) && groups.includes(groupNames.nodes) ? name.slice(prefix.length) : undefined;
}
