import type { AdmissionMatch } from 'kubenest/sdk';

/** Requests that create or change objects that keep replicas of a pod running. */
export const replicated: readonly AdmissionMatch[] = [
  { groups: ['apps'], resources: ['deployments', 'statefulsets'], operations: ['CREATE', 'UPDATE'] },
];

/** Like `replicated`, and DaemonSets. */
export const longRunning: readonly AdmissionMatch[] = [
  { groups: ['apps'], resources: ['daemonsets', 'deployments', 'statefulsets'], operations: ['CREATE', 'UPDATE'] },
];
