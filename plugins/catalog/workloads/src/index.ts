import { contribute } from 'kubenest/sdk';
import { AllowedPriorityClasses } from './allowed-priority-classes.ts';
import { MaximumResourceRatio, MaximumResources, RequiredResources } from './container-resources.ts';
import { DisallowAutomountedTokens } from './disallow-automounted-tokens.ts';
import { DisallowBarePods } from './disallow-bare-pods.ts';
import { DisallowDefaultServiceAccount } from './disallow-default-service-account.ts';
import { ReplicaLimits } from './replica-limits.ts';
import { RequirePodDisruptionBudget } from './require-pod-disruption-budget.ts';
import { RequireTopologySpread } from './require-topology-spread.ts';
import { RequiredAnnotations, RequiredLabels } from './required-entries.ts';
import { RequiredOwner } from './required-owner.ts';
import { RequiredProbes } from './required-probes.ts';

export default contribute(
  AllowedPriorityClasses,
  DisallowAutomountedTokens,
  DisallowBarePods,
  DisallowDefaultServiceAccount,
  MaximumResourceRatio,
  MaximumResources,
  ReplicaLimits,
  RequiredAnnotations,
  RequiredLabels,
  RequiredOwner,
  RequiredProbes,
  RequiredResources,
  RequirePodDisruptionBudget,
  RequireTopologySpread,
);
