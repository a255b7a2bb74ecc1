import type { RequestClient } from '#apiserver/registry/client';

/**
 * Client of a controller: it acts as the controller's own user, `system:serviceaccount:kube-system:NAME`, by requests within the process.
 */
export type ControllerClient = RequestClient;

export const ControllerClient = Symbol.for('kubenest.ControllerClient');
