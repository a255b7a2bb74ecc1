/** Validation of containers of all kinds. Upstream: pkg/apis/core/validation. */
import {
  addErrors,
  type FieldError,
  type Path,
  duplicate,
  forbidden,
  invalid,
  notFound,
  notSupported,
  required,
  tooMany,
  named,
} from '#apimachinery/validation/field';
import { checkEach } from '#apimachinery/validation/pausing';
import { isValidPortName, isValidPortNum } from '#apimachinery/validation/names';
import { isSidecar } from '#kubernetes/apis/core/resource-list';
import type {
  Container,
  ContainerPort,
  ContainerResizePolicy,
  ContainerRestartRule,
  EphemeralContainer,
  PodSpec,
  VolumeDevice,
  VolumeMount,
} from '#kubernetes/schema/core_v1.gen';
import { check, validateDNS1123Label, validateEnum, validateRequiredEnum } from './checks.ts';
import { validateEnv, validateEnvFrom } from './env.ts';
import { validateLocalDescendingPath } from './paths.ts';
import { validatePullPolicy } from './pull-policy.ts';
import type { PodOptions } from './pod-options.ts';
import { validateLifecycle, validateProbe } from './probes.ts';
import { validateContainerResourceRequirements } from './resources.ts';
import { validateSecurityContext } from './security-context.ts';
import type { ValidVolumes } from './volumes.ts';

/** Pod-level facts that the validation of containers needs. */
export interface PodContext {
  readonly spec: PodSpec;
  readonly volumes: ValidVolumes;
  readonly claims: ReadonlySet<string>;
  readonly options: PodOptions;
  /** True if the pod has no user namespace of its own. */
  readonly hostUsers: boolean;
}

export const portProtocols = ['SCTP', 'TCP', 'UDP'];

export function validateContainers(errors: FieldError[], pod: PodContext, path: Path): void {
  const { containers } = pod.spec;
  if (!containers?.length) {
    errors.push(required(path));
    return;
  }
  const { terminationGracePeriodSeconds: gracePeriod, os } = pod.spec;
  const newNames = () => new Set<string>();
  const checked = checkEach(containers, path, containers, newNames, (found, container, i, names) => {
    const { name = '' } = container;
    const at = path.index(i);
    validateContainerCommon(found, container, pod, at);
    if (names.has(name)) found.push(duplicate(at.child('name'), name));
    if (container.lifecycle) validateLifecycle(found, container.lifecycle, gracePeriod, at.child('lifecycle'), os);
    validateProbe(found, container.livenessProbe, gracePeriod, at, 'livenessProbe');
    validateProbe(found, container.readinessProbe, gracePeriod, at, 'readinessProbe');
    validateProbe(found, container.startupProbe, gracePeriod, at, 'startupProbe');
    validateRestartPolicy(found, container.restartPolicy, container.restartPolicyRules, at);
    names.add(name);
  });
  addErrors(errors, checked.errors);
  checkHostPortConflicts(errors, containers, path);
}

const initOnly = 'may not be set for init containers without restartPolicy=Always';

export function validateInitContainers(errors: FieldError[], pod: PodContext, path: Path): void {
  const { initContainers, containers = [], terminationGracePeriodSeconds: gracePeriod, os } = pod.spec;
  if (!initContainers) return;
  const names = new Set(containers.map(({ name = '' }) => name));
  for (let i = 0; i < initContainers.length; i++) {
    const container = initContainers[i]!;
    const { name = '', lifecycle, livenessProbe, readinessProbe, startupProbe } = container;
    const at = path.index(i);
    validateContainerCommon(errors, container, pod, at);
    if (container.restartPolicy !== undefined) validateRestartPolicy(errors, container.restartPolicy, container.restartPolicyRules, at);
    else if (container.restartPolicyRules?.length) errors.push(required(at.child('restartPolicy'), rulesNeedPolicy));
    if (names.has(name)) errors.push(duplicate(at.child('name'), name));
    else if (name !== '') names.add(name);
    checkHostPortConflicts(errors, [container], path);
    if (isSidecar(container)) {
      if (lifecycle) validateLifecycle(errors, lifecycle, gracePeriod, at.child('lifecycle'), os);
      validateProbe(errors, livenessProbe, gracePeriod, at, 'livenessProbe');
      validateProbe(errors, readinessProbe, gracePeriod, at, 'readinessProbe');
      validateProbe(errors, startupProbe, gracePeriod, at, 'startupProbe');
      continue;
    }
    for (const [field, value] of [
      ['lifecycle', lifecycle],
      ['livenessProbe', livenessProbe],
      ['readinessProbe', readinessProbe],
      ['startupProbe', startupProbe],
    ] as const) {
      if (value) errors.push(forbidden(at.child(field), initOnly));
    }
    for (const [j, { restartPolicy }] of (container.resizePolicy ?? []).entries()) {
      if (restartPolicy !== 'RestartContainer' || pod.options.allowRestartContainerForInitContainers) continue;
      errors.push(
        invalid(
          at.child('resizePolicy').index(j).child('restartPolicy'),
          restartPolicy,
          "must not be set to 'RestartContainer' for non-sidecar initContainers",
        ),
      );
    }
  }
}

/** Container fields that an ephemeral container must not set, in the order of upstream's type. */
const notInEphemeralContainers = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;
const cannotBeInEphemeral = 'cannot be set for an Ephemeral Container';

export function validateEphemeralContainers(errors: FieldError[], pod: PodContext, path: Path): void {
  const { ephemeralContainers, containers = [], initContainers = [] } = pod.spec;
  if (!ephemeralContainers?.length) return;
  const others = new Set([...containers, ...initContainers].map(({ name = '' }) => name));
  const names = new Set(others);
  for (const [i, container] of ephemeralContainers.entries()) {
    const { name = '', targetContainerName } = container;
    const at = path.index(i);
    validateContainerCommon(errors, container, pod, at);
    validateContainerOnlyForPod(errors, container, at);
    if (names.has(name)) errors.push(duplicate(at.child('name'), name));
    else names.add(name);
    if (targetContainerName && !others.has(targetContainerName))
      errors.push(notFound(at.child('targetContainerName'), targetContainerName));
    for (const field of notInEphemeralContainers) if (isSet(container, field)) errors.push(forbidden(at.child(field), cannotBeInEphemeral));
    for (const [j, { subPath, subPathExpr }] of (container.volumeMounts ?? []).entries()) {
      if (subPath) errors.push(forbidden(at.child('volumeMounts').index(j).child('subPath'), cannotBeInEphemeral));
      if (subPathExpr) errors.push(forbidden(at.child('volumeMounts').index(j).child('subPathExpr'), cannotBeInEphemeral));
    }
  }
}

/** True if the field is set; an empty `resources` object counts as unset, since it is a struct upstream. */
function isSet(container: EphemeralContainer, field: (typeof notInEphemeralContainers)[number]): boolean {
  const value = container[field];
  return value !== undefined && (field !== 'resources' || Object.keys(value).length > 0);
}

/** Validates rules that apply to pods but not to templates. */
export function validateContainerOnlyForPod(errors: FieldError[], { image = '' }: Container, path: Path): void {
  if (image !== image.trim()) errors.push(invalid(path.child('image'), image, 'must not have leading or trailing whitespace'));
}

function validateContainerCommon(errors: FieldError[], container: Container, pod: PodContext, path: Path): void {
  const { name, ports, env, envFrom, volumeMounts, volumeDevices, resources, resizePolicy } = container;
  if (!name) errors.push(required(path.child('name')));
  else validateDNS1123Label(errors, name, path, 'name');
  if (!container.image) errors.push(required(path.child('image')));
  validateRequiredEnum(errors, container.terminationMessagePolicy, ['File', 'FallbackToLogsOnError'], path, 'terminationMessagePolicy');
  if (ports) validateContainerPorts(errors, ports, path.child('ports'));
  if (env) validateEnv(errors, env, path.child('env'), pod.options);
  if (envFrom) validateEnvFrom(errors, envFrom, path.child('envFrom'));
  if (volumeMounts) validateVolumeMounts(errors, volumeMounts, container, pod.volumes, path.child('volumeMounts'));
  if (volumeDevices) validateVolumeDevices(errors, volumeDevices, container, pod.volumes, path.child('volumeDevices'));
  validatePullPolicy(errors, container.imagePullPolicy, path, 'imagePullPolicy');
  if (resources) validateContainerResourceRequirements(errors, resources, pod.claims, path.child('resources'), pod.options);
  if (resizePolicy) validateResizePolicy(errors, resizePolicy, path.child('resizePolicy'), pod.spec.restartPolicy);
  if (container.securityContext) validateSecurityContext(errors, container.securityContext, path.child('securityContext'), pod);
}

function validateContainerPorts(errors: FieldError[], ports: readonly ContainerPort[], path: Path): void {
  const names = ports.length > 1 ? new Set<string>() : undefined;
  for (let i = 0; i < ports.length; i++) {
    const { name, containerPort = 0, hostPort, protocol } = ports[i]!;
    if (name) {
      const wrong = isValidPortName(name);
      if (wrong.length > 0) check(errors, wrong, name, path.index(i), 'name');
      else if (names?.has(name)) errors.push(duplicate(path.index(i).child('name'), name));
      else names?.add(name);
    }
    if (containerPort === 0) errors.push(required(path.index(i).child('containerPort')));
    else if (isValidPortNum(containerPort).length > 0)
      check(errors, isValidPortNum(containerPort), containerPort, path.index(i), 'containerPort');
    if (hostPort && isValidPortNum(hostPort).length > 0) check(errors, isValidPortNum(hostPort), hostPort, path.index(i), 'hostPort');
    if (protocol !== 'TCP') validateRequiredEnum(errors, protocol, portProtocols, path.index(i), 'protocol');
  }
}

/** Rejects host ports that two containers of one pod use. */
function checkHostPortConflicts(errors: FieldError[], containers: readonly Container[], path: Path): void {
  let taken: Set<string> | undefined;
  for (let i = 0; i < containers.length; i++) {
    const { ports } = containers[i]!;
    for (let j = 0; ports && j < ports.length; j++) {
      const { hostPort, protocol = '', hostIP = '' } = ports[j]!;
      if (!hostPort) continue;
      const key = `${protocol}/${hostIP}/${hostPort}`;
      taken ??= new Set();
      if (taken.has(key)) errors.push(duplicate(path.index(i).child('ports').index(j).child('hostPort'), key));
      else taken.add(key);
    }
  }
}

/** Validates mounts. `container` is their container; an empty object if there is none. */
export function validateVolumeMounts(
  errors: FieldError[],
  mounts: readonly VolumeMount[],
  container: Container,
  volumes: ValidVolumes,
  path: Path,
): void {
  const deviceNames = new Set(container.volumeDevices?.map(({ name = '' }) => name));
  const devicePaths = new Set(container.volumeDevices?.map(({ devicePath = '' }) => devicePath));
  const mountPaths = new Set<string>();
  for (let i = 0; i < mounts.length; i++) {
    const mount = mounts[i]!;
    const { name = '', mountPath = '', subPath, subPathExpr } = mount;
    if (name === '') errors.push(required(path.index(i).child('name')));
    if (!volumes.has(name)) errors.push(notFound(path.index(i).child('name'), name));
    if (mountPath === '') errors.push(required(path.index(i).child('mountPath')));
    if (mountPaths.has(mountPath)) errors.push(invalid(path.index(i).child('mountPath'), mountPath, 'must be unique'));
    mountPaths.add(mountPath);
    if (deviceNames.has(name)) errors.push(invalid(path.index(i).child('name'), name, 'must not already exist in volumeDevices'));
    if (devicePaths.has(mountPath)) {
      errors.push(invalid(path.index(i).child('mountPath'), mountPath, 'must not already exist as a path in volumeDevices'));
    }
    // As upstream, these paths have no index of the mount.
    if (subPath) validateLocalDescendingPath(errors, subPath, path, 'subPath');
    if (subPathExpr) {
      if (subPath) errors.push(invalid(path.index(i).child('subPathExpr'), subPathExpr, 'subPathExpr and subPath are mutually exclusive'));
      validateLocalDescendingPath(errors, subPathExpr, path, 'subPathExpr');
    }
    if (mount.mountPropagation !== undefined) validateMountPropagation(errors, mount.mountPropagation, container, path);
    if (mount.recursiveReadOnly !== undefined) validateRecursiveReadOnly(errors, mount, path);
  }
}

function validateMountPropagation(errors: FieldError[], propagation: string, { securityContext }: Container, path: Path): void {
  validateEnum(errors, propagation, ['Bidirectional', 'HostToContainer', 'None'], path, 'mountPropagation');
  if (propagation === 'Bidirectional' && !securityContext?.privileged) {
    errors.push(forbidden(path.child('mountPropagation'), 'Bidirectional mount propagation is available only to privileged containers'));
  }
}

function validateRecursiveReadOnly(
  errors: FieldError[],
  { recursiveReadOnly = '', readOnly, mountPropagation = 'None' }: VolumeMount,
  path: Path,
): void {
  const at = path.child('recursiveReadOnly');
  if (recursiveReadOnly === 'Disabled') return;
  if (recursiveReadOnly !== 'Enabled' && recursiveReadOnly !== 'IfPossible') {
    errors.push(notSupported(at, recursiveReadOnly, ['Disabled', 'Enabled', 'IfPossible']));
    return;
  }
  if (!readOnly) errors.push(forbidden(at, 'may only be specified when readOnly is true'));
  if (mountPropagation !== 'None') errors.push(forbidden(at, 'may only be specified when mountPropagation is None or not specified'));
}

function validateVolumeDevices(
  errors: FieldError[],
  devices: readonly VolumeDevice[],
  { volumeMounts }: Container,
  volumes: ValidVolumes,
  path: Path,
): void {
  const names = new Set<string>();
  const paths = new Set<string>();
  const mountNames = new Set(volumeMounts?.map(({ name = '' }) => name));
  const mountPaths = new Set(volumeMounts?.map(({ mountPath = '' }) => mountPath));
  for (const [i, { name = '', devicePath = '' }] of devices.entries()) {
    const at = path.index(i);
    const volume = volumes.get(name);
    if (name === '') errors.push(required(at.child('name')));
    if (names.has(name)) errors.push(invalid(at.child('name'), name, 'must be unique'));
    if (volume && !volume.persistentVolumeClaim && !volume.ephemeral) {
      errors.push(invalid(at.child('name'), name, 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode'));
    }
    if (!volume) errors.push(notFound(at.child('name'), name));
    if (devicePath === '') errors.push(required(at.child('devicePath')));
    if (paths.has(devicePath)) errors.push(invalid(at.child('devicePath'), devicePath, 'must be unique'));
    if (devicePath.split('/').includes('..')) errors.push(invalid(at.child('devicePath'), devicePath, "can not contain backsteps ('..')"));
    else paths.add(devicePath);
    if (mountNames.has(name)) errors.push(invalid(at.child('name'), name, 'must not already exist in volumeMounts'));
    if (mountPaths.has(devicePath)) {
      errors.push(invalid(at.child('devicePath'), devicePath, 'must not already exist as a path in volumeMounts'));
    }
    if (name !== '') names.add(name);
  }
}

function validateResizePolicy(
  errors: FieldError[],
  policies: readonly ContainerResizePolicy[],
  path: Path,
  podRestartPolicy: string | undefined,
): void {
  const seen = new Set<string>();
  for (const [i, { resourceName = '', restartPolicy = '' }] of policies.entries()) {
    if (seen.has(resourceName)) errors.push(duplicate(path.index(i), named(resourceName)));
    seen.add(resourceName);
    validateRequiredEnum(errors, resourceName, ['cpu', 'memory'], path);
    validateRequiredEnum(errors, restartPolicy, ['NotRequired', 'RestartContainer'], path);
    if (podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      errors.push(invalid(path, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
    }
  }
}

const rulesNeedPolicy = 'must specify restartPolicy when restart rules are used';

/** Validates a container's own restart policy, and its exit code rules, which require one. */
function validateRestartPolicy(
  errors: FieldError[],
  policy: string | undefined,
  rules: readonly ContainerRestartRule[] | undefined,
  path: Path,
): void {
  if (policy === undefined) {
    if (!rules?.length) return;
    errors.push(required(path.child('restartPolicy'), rulesNeedPolicy));
  } else {
    validateEnum(errors, policy, ['Always', 'Never', 'OnFailure'], path, 'restartPolicy');
  }
  if (!rules) return;
  if (rules.length > 20) errors.push(tooMany(path.child('restartPolicyRules'), rules.length, 20));
  for (const [i, { action, exitCodes }] of rules.entries()) {
    const at = path.child('restartPolicyRules').index(i);
    validateEnum(errors, action, ['Restart', 'RestartAllContainers'], at, 'action');
    if (!exitCodes) {
      errors.push(required(at.child('exitCodes'), 'must be specified'));
      continue;
    }
    validateEnum(errors, exitCodes.operator, ['In', 'NotIn'], at.child('exitCodes'), 'operator');
    const count = exitCodes.values?.length ?? 0;
    if (count > 255) errors.push(tooMany(at.child('exitCodes', 'values'), count, 255));
  }
}
