import type { AdmissionMatch } from 'kubenest/sdk';

/** Requests that create or change objects that keep pods running. */
export const longRunning: readonly AdmissionMatch[] = [
  { groups: ['apps'], resources: ['daemonsets', 'deployments', 'statefulsets'], operations: ['CREATE', 'UPDATE'] },
];
