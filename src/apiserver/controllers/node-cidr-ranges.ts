/** Addresses that the pods of nodes get. Upstream: --allocate-node-cidrs and --cluster-cidr of kube-controller-manager. */
export interface NodeCidrRanges {
  /** One range for each address family, as CIDRs, with the prefix length of a node's part; none: nodes get no addresses. */
  readonly pods: readonly { readonly cidr: string; readonly nodePrefix: number }[];
  /** Ranges of Services, which nodes do not get. */
  readonly services: readonly string[];
}

export const NodeCidrRanges = Symbol.for('kubenest.NodeCidrRanges');
