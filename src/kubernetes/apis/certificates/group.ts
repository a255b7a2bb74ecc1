import type { ApiGroup } from '#apiserver/registry/api-group';
import certificatesigningrequests from './v1/certificatesigningrequests.ts';
import clustertrustbundlesV1beta1 from './v1beta1/clustertrustbundles.ts';
import podcertificaterequests from './v1beta1/podcertificaterequests.ts';
import clustertrustbundlesV1alpha1 from './v1alpha1/clustertrustbundles.ts';

/** The API group certificates.k8s.io. */
export const certificatesGroup: ApiGroup = {
  group: 'certificates.k8s.io',
  versions: [
    { version: 'v1', versionPriority: 15 },
    { version: 'v1beta1', versionPriority: 9 },
    { version: 'v1alpha1', versionPriority: 1 },
  ],
  groupPriorityMinimum: 17300,
  resources: [certificatesigningrequests, clustertrustbundlesV1beta1, podcertificaterequests, clustertrustbundlesV1alpha1],
};
