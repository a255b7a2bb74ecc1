/**
 * Defaults of core objects. Each function completes a decoded object in place; they run on every write, so they are plain code without a
 * generic walk. Upstream: pkg/apis/core/v1/defaults.go and zz_generated.defaults.go, whose SetDefaults_X and SetObjectDefaults_X are
 * `defaultX` here.
 */
import { isEmptyObject } from '#apimachinery/patch/own-property';
import { defaultPullPolicy } from '#kubernetes/apis/core/image-name';
import {
  addMissing,
  aggregateContainers,
  defaultResourceList,
  isHugePageResourceName,
  isNativeResource,
  isSupportedPodLevelResource,
  setAmount,
} from '#kubernetes/apis/core/resource-list';
import type {
  AzureDiskVolumeSource,
  Container,
  ContainerStatus,
  DownwardAPIVolumeFile,
  Endpoints,
  EnvVar,
  EphemeralContainer,
  HTTPGetAction,
  LimitRange,
  LimitRangeItem,
  Namespace,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  PersistentVolumeSpec,
  Pod,
  PodSpec,
  PodTemplate,
  PodTemplateSpec,
  Probe,
  ReplicationController,
  ResourceQuota,
  ResourceRequirements,
  Secret,
  Service,
  Volume,
} from '#kubernetes/schema/core_v1.gen';
import { convertPodSpec, dropInitContainerAnnotations } from './conversion.ts';

/** 0644 */
const fileMode = 420;
const defaultClientIpSeconds = 10800;

export function defaultPod(pod: Pod): void {
  const spec = (pod.spec ??= {});
  const { containers, initContainers } = spec;
  if (containers !== undefined) for (const { resources } of containers) defaultRequestsToLimits(resources);
  if (initContainers !== undefined) for (const { resources } of initContainers) defaultRequestsToLimits(resources);
  if (spec.resources !== undefined) {
    defaultHugePagePodLimits(spec, spec.resources);
    defaultPodRequests(spec, spec.resources);
  }
  spec.enableServiceLinks ??= true;
  if (spec.hostNetwork) {
    defaultHostNetworkPorts(containers);
    defaultHostNetworkPorts(initContainers);
  }
  defaultPodSpec(spec);
  const { status } = pod;
  if (status === undefined) return;
  defaultContainerStatuses(status.initContainerStatuses);
  defaultContainerStatuses(status.containerStatuses);
  defaultContainerStatuses(status.ephemeralContainerStatuses);
  defaultResourceList(status.allocatedResources);
  defaultResources(status.resources);
}

/** Sets requests to limits where a request is absent. Applies to pods, not to templates. */
function defaultRequestsToLimits(resources: ResourceRequirements | undefined): void {
  if (resources?.limits !== undefined) resources.requests = addMissing(resources.requests, resources.limits);
}

/**
 * Sets pod-level limits of huge pages to the sum of the containers' limits, if the pod has pod-level limits and no request of its own for
 * them.
 */
function defaultHugePagePodLimits(spec: PodSpec, resources: ResourceRequirements): void {
  if (resources.limits === undefined && resources.requests === undefined) return;
  for (const [name, quantity] of aggregateContainers(spec, 'limits')) {
    if (!isHugePageResourceName(name) || (resources.requests && Object.hasOwn(resources.requests, name))) continue;
    const limits = (resources.limits ??= {});
    if (!Object.hasOwn(limits, name)) setAmount(limits, name, quantity.toString());
  }
}

/** Sets pod-level requests to the sum of the containers' requests, or else to the pod-level limits, if the pod has pod-level limits. */
function defaultPodRequests(spec: PodSpec, resources: ResourceRequirements): void {
  const { limits } = resources;
  if (limits === undefined) return;
  const requests = resources.requests ?? {};
  for (const [name, quantity] of aggregateContainers(spec, 'requests')) {
    const counts = isSupportedPodLevelResource(name) && isNativeResource(name) && !isHugePageResourceName(name);
    if (counts && !Object.hasOwn(requests, name)) setAmount(requests, name, quantity.toString());
  }
  for (const name in limits) {
    if (isSupportedPodLevelResource(name) && !Object.hasOwn(requests, name)) setAmount(requests, name, limits[name]!);
  }
  for (const _ in requests) {
    resources.requests = requests;
    break;
  }
}

function defaultHostNetworkPorts(containers: readonly Container[] | undefined): void {
  for (const { ports } of containers ?? []) {
    for (const port of ports ?? []) if (!port.hostPort && port.containerPort !== undefined) port.hostPort = port.containerPort;
  }
}

function defaultContainerStatuses(statuses: readonly ContainerStatus[] | undefined): void {
  for (const status of statuses ?? []) {
    defaultResourceList(status.allocatedResources);
    defaultResources(status.resources);
  }
}

/** Defaults a pod template. An absent spec becomes an empty one, as in upstream's type. */
export function defaultPodTemplateSpec(template: PodTemplateSpec): void {
  defaultPodSpec((template.spec ??= {}));
  if (template.metadata?.annotations !== undefined) dropInitContainerAnnotations(template.metadata.annotations);
}

/** Defaults the spec of a pod or template, including nested fields. */
export function defaultPodSpec(spec: PodSpec): void {
  if (!spec.dnsPolicy) spec.dnsPolicy = 'ClusterFirst';
  if (!spec.restartPolicy) spec.restartPolicy = 'Always';
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= 30;
  if (!spec.schedulerName) spec.schedulerName = 'default-scheduler';
  convertPodSpec(spec);
  const { volumes, initContainers, containers, ephemeralContainers } = spec;
  if (volumes !== undefined) for (const volume of volumes) defaultVolume(volume);
  if (initContainers !== undefined) for (const container of initContainers) defaultContainer(container);
  if (containers !== undefined) for (const container of containers) defaultContainer(container);
  if (ephemeralContainers !== undefined) for (const container of ephemeralContainers) defaultContainer(container);
  defaultResourceList(spec.overhead);
  defaultResources(spec.resources);
}

/** Defaults a container, also an ephemeral one, which has the same fields. */
export function defaultContainer(container: Container | EphemeralContainer): void {
  if (!container.imagePullPolicy) container.imagePullPolicy = defaultPullPolicy(container.image ?? '');
  if (!container.terminationMessagePath) container.terminationMessagePath = '/dev/termination-log';
  if (!container.terminationMessagePolicy) container.terminationMessagePolicy = 'File';
  const { ports, env, livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
  if (ports !== undefined) for (const port of ports) if (!port.protocol) port.protocol = 'TCP';
  if (env !== undefined) defaultEnv(env);
  defaultResources(container.resources);
  if (livenessProbe !== undefined) defaultProbe(livenessProbe);
  if (readinessProbe !== undefined) defaultProbe(readinessProbe);
  if (startupProbe !== undefined) defaultProbe(startupProbe);
  if (lifecycle !== undefined) {
    defaultHttpGetAction(lifecycle.postStart?.httpGet);
    defaultHttpGetAction(lifecycle.preStop?.httpGet);
  }
}

export function defaultEnv(env: readonly EnvVar[] = []): void {
  for (const { valueFrom } of env) {
    if (valueFrom === undefined) continue;
    if (valueFrom.fieldRef !== undefined && !valueFrom.fieldRef.apiVersion) valueFrom.fieldRef.apiVersion = 'v1';
    if (valueFrom.fileKeyRef !== undefined) valueFrom.fileKeyRef.optional ??= false;
  }
}

export function defaultProbe(probe: Probe): void {
  if (!probe.timeoutSeconds) probe.timeoutSeconds = 1;
  if (!probe.periodSeconds) probe.periodSeconds = 10;
  if (!probe.successThreshold) probe.successThreshold = 1;
  if (!probe.failureThreshold) probe.failureThreshold = 3;
  defaultHttpGetAction(probe.httpGet);
  if (probe.grpc !== undefined) probe.grpc.service ??= '';
}

function defaultHttpGetAction(action: HTTPGetAction | undefined): void {
  if (action === undefined) return;
  if (!action.path) action.path = '/';
  if (!action.scheme) action.scheme = 'HTTP';
}

export function defaultResources(resources: { limits?: Record<string, string>; requests?: Record<string, string> } | undefined): void {
  if (resources === undefined) return;
  defaultResourceList(resources.limits);
  defaultResourceList(resources.requests);
}

/** Defaults a volume; without a source it becomes an emptyDir. */
export function defaultVolume(volume: Volume): void {
  for (const field in volume) {
    switch (field) {
      case 'name':
        continue;
      case 'hostPath':
        volume.hostPath!.type ??= '';
        return;
      case 'secret':
        volume.secret!.defaultMode ??= fileMode;
        return;
      case 'configMap':
        volume.configMap!.defaultMode ??= fileMode;
        return;
      default:
        return defaultVolumeSource(volume);
    }
  }
  volume.emptyDir = {};
}

/** Defaults all sources of a volume. Validation rejects multiple sources later. */
function defaultVolumeSource(volume: Volume): void {
  const { hostPath, secret, iscsi, rbd, downwardAPI, configMap, azureDisk, projected, scaleIO, ephemeral, image } = volume;
  if (image !== undefined && !image.pullPolicy) image.pullPolicy = defaultPullPolicy(image.reference ?? '');
  if (hostPath !== undefined) hostPath.type ??= '';
  if (secret !== undefined) secret.defaultMode ??= fileMode;
  if (downwardAPI !== undefined) {
    downwardAPI.defaultMode ??= fileMode;
    defaultDownwardFiles(downwardAPI.items);
  }
  if (configMap !== undefined) configMap.defaultMode ??= fileMode;
  if (projected !== undefined) {
    projected.defaultMode ??= fileMode;
    for (const source of projected.sources ?? []) {
      defaultDownwardFiles(source.downwardAPI?.items);
      if (source.serviceAccountToken !== undefined) source.serviceAccountToken.expirationSeconds ??= 3600;
    }
  }
  if (ephemeral?.volumeClaimTemplate !== undefined) defaultPersistentVolumeClaimSpec((ephemeral.volumeClaimTemplate.spec ??= {}));
  defaultSharedSources({ iscsi, rbd, azureDisk, scaleIO });
}

function defaultDownwardFiles(files: readonly DownwardAPIVolumeFile[] | undefined): void {
  for (const { fieldRef } of files ?? []) if (fieldRef !== undefined && !fieldRef.apiVersion) fieldRef.apiVersion = 'v1';
}

/** Sources with defaults that pod volumes and persistent volumes share. */
interface SharedSources {
  readonly iscsi?: { iscsiInterface?: string } | undefined;
  readonly rbd?: { pool?: string; user?: string; keyring?: string } | undefined;
  readonly azureDisk?: AzureDiskVolumeSource | undefined;
  readonly scaleIO?: { storageMode?: string; fsType?: string } | undefined;
}

function defaultSharedSources({ iscsi, rbd, azureDisk, scaleIO }: SharedSources): void {
  if (iscsi !== undefined && !iscsi.iscsiInterface) iscsi.iscsiInterface = 'default';
  if (rbd !== undefined) {
    if (!rbd.pool) rbd.pool = 'rbd';
    if (!rbd.user) rbd.user = 'admin';
    if (!rbd.keyring) rbd.keyring = '/etc/ceph/keyring';
  }
  if (azureDisk !== undefined) {
    azureDisk.cachingMode ??= 'ReadWrite';
    azureDisk.fsType ??= 'ext4';
    azureDisk.readOnly ??= false;
    azureDisk.kind ??= 'Shared';
  }
  if (scaleIO !== undefined) {
    if (!scaleIO.storageMode) scaleIO.storageMode = 'ThinProvisioned';
    if (!scaleIO.fsType) scaleIO.fsType = 'xfs';
  }
}

export function defaultPersistentVolume(volume: PersistentVolume): void {
  const spec = (volume.spec ??= {});
  const status = (volume.status ??= {});
  if (!status.phase) status.phase = 'Pending';
  if (!spec.persistentVolumeReclaimPolicy) spec.persistentVolumeReclaimPolicy = 'Retain';
  spec.volumeMode ??= 'Filesystem';
  defaultPersistentVolumeSource(spec);
}

/** Defaults the parts of a persistent volume's spec that also occur elsewhere: capacity and source. */
export function defaultPersistentVolumeSource(spec: PersistentVolumeSpec): void {
  defaultResourceList(spec.capacity);
  if (spec.hostPath !== undefined) spec.hostPath.type ??= '';
  defaultSharedSources(spec);
}

export function defaultPersistentVolumeClaim(claim: PersistentVolumeClaim): void {
  const status = (claim.status ??= {});
  if (!status.phase) status.phase = 'Pending';
  defaultPersistentVolumeClaimSpec((claim.spec ??= {}));
  defaultResourceList(status.capacity);
  defaultResourceList(status.allocatedResources);
}

export function defaultPersistentVolumeClaimSpec(spec: PersistentVolumeClaimSpec): void {
  spec.volumeMode ??= 'Filesystem';
  defaultResources(spec.resources);
}

export function defaultPodTemplate(podTemplate: PodTemplate): void {
  defaultPodTemplateSpec((podTemplate.template ??= {}));
}

export function defaultReplicationController(controller: ReplicationController): void {
  const spec = (controller.spec ??= {});
  const labels = spec.template?.metadata?.labels;
  if (labels !== undefined) {
    if (isEmpty(spec.selector)) spec.selector = { ...labels };
    if (isEmpty(controller.metadata.labels)) controller.metadata.labels = { ...labels };
  }
  spec.replicas ??= 1;
  if (spec.template !== undefined) defaultPodTemplateSpec(spec.template);
}

function isEmpty(map: Readonly<Record<string, string>> | undefined): boolean {
  return !map || isEmptyObject(map);
}

export function defaultService(service: Service): void {
  const spec = (service.spec ??= {});
  if (!spec.sessionAffinity) spec.sessionAffinity = 'None';
  if (spec.sessionAffinity === 'None') {
    if (spec.sessionAffinityConfig !== undefined) delete spec.sessionAffinityConfig;
  } else if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: defaultClientIpSeconds } };
  }
  const type = (spec.type ||= 'ClusterIP');
  if (spec.ports !== undefined) {
    for (const port of spec.ports) {
      if (!port.protocol) port.protocol = 'TCP';
      if (!port.targetPort) port.targetPort = port.port ?? 0;
    }
  }
  const external = type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && (spec.externalIPs?.length ?? 0) > 0);
  if (external && !spec.externalTrafficPolicy) spec.externalTrafficPolicy = 'Cluster';
  if (type === 'NodePort' || type === 'LoadBalancer' || type === 'ClusterIP') spec.internalTrafficPolicy ??= 'Cluster';
  if (type === 'LoadBalancer') {
    spec.allocateLoadBalancerNodePorts ??= true;
    for (const ingress of service.status?.loadBalancer?.ingress ?? []) if (ingress.ip) ingress.ipMode ??= 'VIP';
  }
}

export function defaultEndpoints({ subsets }: Endpoints): void {
  for (const { ports } of subsets ?? []) for (const port of ports ?? []) if (!port.protocol) port.protocol = 'TCP';
}

/** Labels a namespace with its name, for selectors. A generated name is added later. */
export function defaultNamespace(namespace: Namespace): void {
  const { metadata } = namespace;
  if (metadata.name) (metadata.labels ??= {})['kubernetes.io/metadata.name'] = metadata.name;
  const status = (namespace.status ??= {});
  if (!status.phase) status.phase = 'Active';
}

export function defaultNode({ status }: Node): void {
  if (status === undefined) return;
  if (status.allocatable === undefined && status.capacity !== undefined) status.allocatable = { ...status.capacity };
  defaultResourceList(status.capacity);
  defaultResourceList(status.allocatable);
}

export function defaultLimitRange({ spec }: LimitRange): void {
  for (const item of spec?.limits ?? []) {
    if (item.type === 'Container') defaultContainerLimits(item);
    defaultResourceList(item.max);
    defaultResourceList(item.min);
    defaultResourceList(item.default);
    defaultResourceList(item.defaultRequest);
    defaultResourceList(item.maxLimitRequestRatio);
  }
}

/** Defaults the limit to the maximum, and the request to the default limit or else the minimum. */
function defaultContainerLimits(item: LimitRangeItem): void {
  if (item.max !== undefined) item.default = addMissing(item.default, item.max);
  if (item.default !== undefined) item.defaultRequest = addMissing(item.defaultRequest, item.default);
  if (item.min !== undefined) item.defaultRequest = addMissing(item.defaultRequest, item.min);
}

export function defaultResourceQuota({ spec, status }: ResourceQuota): void {
  defaultResourceList(spec?.hard);
  defaultResourceList(status?.hard);
  defaultResourceList(status?.used);
}

export function defaultSecret(secret: Secret): void {
  if (!secret.type) secret.type = 'Opaque';
}
