import type { ApiGroup } from '#apiserver/registry/api-group';
import csidrivers from './v1/csidrivers.ts';
import csinodes from './v1/csinodes.ts';
import csistoragecapacities from './v1/csistoragecapacities.ts';
import storageclasses from './v1/storageclasses.ts';
import volumeattachments from './v1/volumeattachments.ts';
import volumeattributesclasses from './v1/volumeattributesclasses.ts';
import volumeattributesclassesV1beta1 from './v1beta1/volumeattributesclasses.ts';

/** The API group storage.k8s.io. */
export const storageGroup: ApiGroup = {
  group: 'storage.k8s.io',
  versions: [
    { version: 'v1', versionPriority: 15 },
    { version: 'v1beta1', versionPriority: 9 },
  ],
  groupPriorityMinimum: 16800,
  resources: [
    csidrivers,
    csinodes,
    csistoragecapacities,
    storageclasses,
    volumeattachments,
    volumeattributesclasses,
    volumeattributesclassesV1beta1,
  ],
};
