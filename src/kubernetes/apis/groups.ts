import type { ApiGroup } from '#apiserver/registry/api-group';
import { admissionRegistrationGroup } from './admissionregistration/group.ts';
import { apiServerInternalGroup } from './apiserverinternal/group.ts';
import { appsGroup } from './apps/group.ts';
import { authenticationGroup } from './authentication/group.ts';
import { authorizationGroup } from './authorization/group.ts';
import { autoscalingGroup } from './autoscaling/group.ts';
import { batchGroup } from './batch/group.ts';
import { certificatesGroup } from './certificates/group.ts';
import { coordinationGroup } from './coordination/group.ts';
import { coreGroup } from './core/group.ts';
import { discoveryGroup } from './discovery/group.ts';
import { eventsGroup } from './events/group.ts';
import { flowControlGroup } from './flowcontrol/group.ts';
import { networkingGroup } from './networking/group.ts';
import { nodeGroup } from './node/group.ts';
import { policyGroup } from './policy/group.ts';
import { rbacGroup } from './rbac/group.ts';
import { resourceGroup } from './resource/group.ts';
import { schedulingGroup } from './scheduling/group.ts';
import { storageGroup } from './storage/group.ts';
import { storageMigrationGroup } from './storagemigration/group.ts';

/** The built-in groups in discovery order, with all their versions. Unstable versions are off by default. */
export const groups: readonly ApiGroup[] = [
  coreGroup,
  appsGroup,
  eventsGroup,
  authenticationGroup,
  authorizationGroup,
  autoscalingGroup,
  batchGroup,
  certificatesGroup,
  networkingGroup,
  policyGroup,
  rbacGroup,
  storageGroup,
  admissionRegistrationGroup,
  schedulingGroup,
  coordinationGroup,
  nodeGroup,
  discoveryGroup,
  resourceGroup,
  flowControlGroup,
  apiServerInternalGroup,
  storageMigrationGroup,
];
