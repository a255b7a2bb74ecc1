import type { ControllerRule } from 'kubenest/sdk';

const read = ['get', 'list', 'watch'] as const;

/** Permissions of the scheduler. Upstream: the roles system:kube-scheduler and system:volume-scheduler. */
export const schedulerRules: readonly ControllerRule[] = [
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
  { apiGroups: [''], resources: ['nodes', 'namespaces', 'services', 'replicationcontrollers'], verbs: read },
  { apiGroups: [''], resources: ['pods'], verbs: [...read, 'delete'] },
  { apiGroups: [''], resources: ['bindings', 'pods/binding'], verbs: ['create'] },
  { apiGroups: [''], resources: ['pods/status'], verbs: ['patch', 'update'] },
  { apiGroups: ['apps'], resources: ['replicasets', 'statefulsets'], verbs: read },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: read },
  { apiGroups: [''], resources: ['persistentvolumeclaims', 'persistentvolumes'], verbs: [...read, 'patch', 'update'] },
  { apiGroups: ['storage.k8s.io'], resources: ['storageclasses', 'csinodes', 'volumeattachments'], verbs: read },
  { apiGroups: ['scheduling.k8s.io'], resources: ['podgroups'], verbs: read },
  { apiGroups: ['scheduling.k8s.io'], resources: ['podgroups/status'], verbs: ['patch', 'update'] },
  { apiGroups: ['resource.k8s.io'], resources: ['deviceclasses', 'resourceslices'], verbs: read },
  { apiGroups: ['resource.k8s.io'], resources: ['resourceclaims', 'resourceclaims/status'], verbs: [...read, 'patch', 'update'] },
  { apiGroups: ['resource.k8s.io'], resources: ['resourceclaims'], verbs: ['create', 'delete'] },
  { apiGroups: ['resource.k8s.io'], resources: ['resourceclaims/binding'], verbs: ['patch', 'update'] },
];
