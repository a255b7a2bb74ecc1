import type { ApiGroup } from '#apiserver/registry/api-group';
import flowschemas from './v1/flowschemas.ts';
import prioritylevelconfigurations from './v1/prioritylevelconfigurations.ts';

/** The API group flowcontrol.apiserver.k8s.io. */
export const flowControlGroup: ApiGroup = {
  group: 'flowcontrol.apiserver.k8s.io',
  versions: [{ version: 'v1', versionPriority: 21 }],
  groupPriorityMinimum: 16100,
  resources: [flowschemas, prioritylevelconfigurations],
};
