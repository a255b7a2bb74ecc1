import { defineResource } from '#apiserver/registry/resource-definition';
import { ageColumn, nameColumn } from '#apiserver/registry/table-columns';
import { describe, formatLabelSelector, stringColumn } from '#kubernetes/apis/columns';
import {
  networkPolicyWarnings,
  validateNetworkPolicy,
  validateNetworkPolicyUpdate,
} from '#kubernetes/apis/networking/validation/network-policy';
import type { NetworkPolicy } from '#kubernetes/schema/networking_v1.gen';
import { defaultNetworkPolicy } from './defaults.ts';

export default defineResource<NetworkPolicy>({
  group: 'networking.k8s.io',
  version: 'v1',
  kind: 'NetworkPolicy',
  resource: 'networkpolicies',
  shortNames: ['netpol'],
  storageVersionHash: 'YpfwF18m1G8=',
  schema: 'networking_v1.NetworkPolicy',
  storagePath: 'networkpolicies',
  defaults: defaultNetworkPolicy,
  strategy: {
    generation: 'exactSpec',
    validate: validateNetworkPolicy,
    validateUpdate: validateNetworkPolicyUpdate,
    warningsOnCreate: networkPolicyWarnings,
    warningsOnUpdate: networkPolicyWarnings,
  },
  columns: [
    nameColumn,
    stringColumn('Pod-Selector', describe('networking_v1.NetworkPolicySpec', 'podSelector'), ({ spec }) =>
      formatLabelSelector(spec?.podSelector),
    ),
    ageColumn,
  ],
});
