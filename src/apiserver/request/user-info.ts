/** The user that a request acts for. Upstream: apiserver/pkg/authentication/user/user.go. */
export interface UserInfo {
  readonly name: string;
  readonly uid?: string | undefined;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Audiences of the credentials, from authenticators that support them; undefined: the server's own audiences. */
  readonly audiences?: readonly string[] | undefined;
}

export const userNames = {
  anonymous: 'system:anonymous',
  apiServer: 'system:apiserver',
  kubeProxy: 'system:kube-proxy',
  kubeControllerManager: 'system:kube-controller-manager',
  kubeScheduler: 'system:kube-scheduler',
} as const;

export const groupNames = {
  privileged: 'system:masters',
  nodes: 'system:nodes',
  authenticated: 'system:authenticated',
  unauthenticated: 'system:unauthenticated',
  serviceAccounts: 'system:serviceaccounts',
} as const;
