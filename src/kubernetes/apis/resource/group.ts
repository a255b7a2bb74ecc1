import type { ApiGroup } from '#apiserver/registry/api-group';
import deviceclasses from './v1/deviceclasses.ts';
import resourceclaims from './v1/resourceclaims.ts';
import resourceclaimtemplates from './v1/resourceclaimtemplates.ts';
import resourceslices from './v1/resourceslices.ts';
import deviceclassesV1beta2 from './v1beta2/deviceclasses.ts';
import devicetaintrulesV1beta2 from './v1beta2/devicetaintrules.ts';
import resourceclaimsV1beta2 from './v1beta2/resourceclaims.ts';
import resourceclaimtemplatesV1beta2 from './v1beta2/resourceclaimtemplates.ts';
import resourceslicesV1beta2 from './v1beta2/resourceslices.ts';
import deviceclassesV1beta1 from './v1beta1/deviceclasses.ts';
import resourceclaimsV1beta1 from './v1beta1/resourceclaims.ts';
import resourceclaimtemplatesV1beta1 from './v1beta1/resourceclaimtemplates.ts';
import resourceslicesV1beta1 from './v1beta1/resourceslices.ts';
import devicetaintrulesV1alpha3 from './v1alpha3/devicetaintrules.ts';
import resourcepoolstatusrequestsV1alpha3 from './v1alpha3/resourcepoolstatusrequests.ts';

/** The API group resource.k8s.io. */
export const resourceGroup: ApiGroup = {
  group: 'resource.k8s.io',
  versions: [
    { version: 'v1', versionPriority: 21 },
    { version: 'v1beta2', versionPriority: 15 },
    { version: 'v1beta1', versionPriority: 9 },
    { version: 'v1alpha3', versionPriority: 1 },
  ],
  groupPriorityMinimum: 16200,
  resources: [
    deviceclasses,
    resourceclaims,
    resourceclaimtemplates,
    resourceslices,
    deviceclassesV1beta2,
    devicetaintrulesV1beta2,
    resourceclaimsV1beta2,
    resourceclaimtemplatesV1beta2,
    resourceslicesV1beta2,
    deviceclassesV1beta1,
    resourceclaimsV1beta1,
    resourceclaimtemplatesV1beta1,
    resourceslicesV1beta1,
    devicetaintrulesV1alpha3,
    resourcepoolstatusrequestsV1alpha3,
  ],
};
