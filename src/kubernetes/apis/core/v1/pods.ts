import { defineResource } from '#apiserver/registry/resource-definition';
import { podColumns, podRowConditions } from '#kubernetes/apis/core/pod-columns';
import { ephemeralContainersStrategy, podStatusStrategy, podStrategy, resizeStrategy } from '#kubernetes/apis/core/pod-strategy';
import type { Pod } from '#kubernetes/schema/core_v1.gen';
import { convertPod } from './conversion.ts';
import { defaultPod } from './defaults.ts';

export default defineResource<Pod>({
  group: '',
  version: 'v1',
  kind: 'Pod',
  resource: 'pods',
  shortNames: ['po'],
  categories: ['all'],
  storageVersionHash: 'xPOwRZ+Yhw8=',
  schema: 'core_v1.Pod',
  storagePath: 'pods',
  defaults(pod) {
    defaultPod(pod);
    convertPod(pod);
  },
  strategy: podStrategy,
  indexedFields: ['spec.nodeName'],
  selectableFields: {
    'spec.nodeName': ({ spec }) => spec?.nodeName ?? '',
    'spec.host': ({ spec }) => spec?.nodeName ?? '',
    'spec.restartPolicy': ({ spec }) => spec?.restartPolicy ?? '',
    'spec.schedulerName': ({ spec }) => spec?.schedulerName ?? '',
    'spec.serviceAccountName': ({ spec }) => spec?.serviceAccountName ?? '',
    'spec.hostNetwork': ({ spec }) => String(spec?.hostNetwork ?? false),
    'status.phase': ({ status }) => status?.phase ?? '',
    'status.podIP': ({ status }) => status?.podIPs?.[0]?.ip ?? '',
    // Upstream accepts this selector but never fills in the field.
    'status.podIPs': () => '',
    'status.nominatedNodeName': ({ status }) => status?.nominatedNodeName ?? '',
  },
  unsupportedField: (label) => `field label not supported: ${label}`,
  columns: podColumns,
  rowConditions: podRowConditions,
  subresources: {
    attach: { kind: 'PodAttachOptions', schema: 'core_v1.PodAttachOptions', verbs: ['create', 'get'], connect: true },
    binding: { kind: 'Binding', schema: 'core_v1.Binding', verbs: ['create'] },
    ephemeralcontainers: { verbs: ['get', 'patch', 'update'], strategy: ephemeralContainersStrategy },
    eviction: { kind: 'Eviction', groupVersion: { group: 'policy', version: 'v1' }, schema: 'policy_v1.Eviction', verbs: ['create'] },
    exec: { kind: 'PodExecOptions', schema: 'core_v1.PodExecOptions', verbs: ['create', 'get'], connect: true },
    log: { kind: 'Pod', schema: 'core_v1.Pod', verbs: ['get'], connect: true },
    portforward: { kind: 'PodPortForwardOptions', schema: 'core_v1.PodPortForwardOptions', verbs: ['create', 'get'], connect: true },
    proxy: {
      kind: 'PodProxyOptions',
      schema: 'core_v1.PodProxyOptions',
      verbs: ['create', 'delete', 'get', 'patch', 'update'],
      connect: true,
    },
    resize: { verbs: ['get', 'patch', 'update'], strategy: resizeStrategy },
    status: { verbs: ['get', 'patch', 'update'], strategy: podStatusStrategy },
  },
});
