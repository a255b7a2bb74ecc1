import type { FeatureGates, KubeObject, SharedInformer, SharedInformers } from 'kubenest/sdk';
import type { ReplicaSet, StatefulSet } from 'kubenest/types/apps_v1';
import type { Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, ReplicationController, Service } from 'kubenest/types/core_v1';
import type { PodDisruptionBudget } from 'kubenest/types/policy_v1';
import type { DeviceClass, ResourceClaim, ResourceSlice } from 'kubenest/types/resource_v1';
import type { DeviceTaintRule } from 'kubenest/types/resource_v1alpha3';
import type { CSINode, StorageClass, VolumeAttachment } from 'kubenest/types/storage_v1';

/** The informers of all kinds that decide about the nodes of pods. */
export class SchedulerCaches {
  readonly pods;
  readonly nodes;
  readonly budgets;
  readonly namespaces;
  readonly claims;
  readonly volumes;
  readonly storageClasses;
  readonly csiNodes;
  readonly volumeAttachments;
  readonly services;
  readonly replicationControllers;
  readonly replicaSets;
  readonly statefulSets;
  readonly resourceClaims;
  readonly resourceSlices;
  readonly deviceClasses;
  readonly deviceTaintRules;
  readonly #all: SharedInformer[] = [];

  constructor(informers: SharedInformers, features: FeatureGates) {
    const of = <T extends KubeObject>(group: string, resource: string): SharedInformer<T> => {
      const informer = informers.for<T>({ group, resource });
      this.#all.push(informer as unknown as SharedInformer);
      return informer;
    };
    this.pods = of<Pod>('', 'pods');
    this.nodes = of<Node>('', 'nodes');
    this.budgets = of<PodDisruptionBudget>('policy', 'poddisruptionbudgets');
    this.namespaces = of<Namespace>('', 'namespaces');
    this.claims = of<PersistentVolumeClaim>('', 'persistentvolumeclaims');
    this.volumes = of<PersistentVolume>('', 'persistentvolumes');
    this.storageClasses = of<StorageClass>('storage.k8s.io', 'storageclasses');
    this.csiNodes = of<CSINode>('storage.k8s.io', 'csinodes');
    this.volumeAttachments = of<VolumeAttachment>('storage.k8s.io', 'volumeattachments');
    this.services = of<Service>('', 'services');
    this.replicationControllers = of<ReplicationController>('', 'replicationcontrollers');
    this.replicaSets = of<ReplicaSet>('apps', 'replicasets');
    this.statefulSets = of<StatefulSet>('apps', 'statefulsets');
    this.resourceClaims = of<ResourceClaim>('resource.k8s.io', 'resourceclaims');
    this.resourceSlices = of<ResourceSlice>('resource.k8s.io', 'resourceslices');
    this.deviceClasses = of<DeviceClass>('resource.k8s.io', 'deviceclasses');
    const hasRules = features.enabled('DRADeviceTaintRules');
    this.deviceTaintRules = hasRules ? of<DeviceTaintRule>('resource.k8s.io', 'devicetaintrules') : undefined;
  }

  /** Resolves when all informers have their objects. */
  get synced(): Promise<unknown> {
    return Promise.all(this.#all.map(({ synced }) => synced));
  }
}
