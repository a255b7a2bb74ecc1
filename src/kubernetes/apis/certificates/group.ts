import type { ApiGroup } from '#apiserver/registry/api-group';
import certificatesigningrequests from './v1/certificatesigningrequests.ts';

/** What certificates.k8s.io serves. */
export const certificatesGroup: ApiGroup = {
  group: 'certificates.k8s.io',
  versions: [{ version: 'v1', versionPriority: 15 }],
  groupPriorityMinimum: 17300,
  resources: [certificatesigningrequests],
};
