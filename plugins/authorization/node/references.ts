import type { KubeObject } from 'kubenest/sdk';

/** An unvalidated object, whose fields may be missing. */
type Any = { readonly [field: string]: Any | undefined } & readonly Any[];

/** A reference from a pod: `kind/namespace/name`. */
export type ObjectKey = `${string}/${string}/${string}`;

export function objectKey(kind: string, namespace: string, name: string): ObjectKey {
  return `${kind}/${namespace}/${name}`;
}

const mirrorAnnotation = 'kubernetes.io/config.mirror';
const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const list = (value: unknown): readonly Any[] => (Array.isArray(value) ? (value as Any[]) : []);

/**
 * Returns a pod's references to its service account, secrets, config maps, volume claims and resource claims. Mirror pods,
 * which nodes create themselves, grant no access. Upstream: plugin/pkg/auth/authorizer/node/graph.go (AddPod),
 * pkg/api/v1/pod/util.go.
 */
export function referencesOfPod(pod: KubeObject): ReadonlySet<ObjectKey> {
  const keys = new Set<ObjectKey>();
  const { namespace = '', name: podName = '', annotations } = pod.metadata;
  if (annotations && Object.hasOwn(annotations, mirrorAnnotation)) return keys;
  const add = (kind: string, name: unknown): void => {
    if (text(name) !== '') keys.add(objectKey(kind, namespace, text(name)));
  };
  const spec = (pod['spec'] ?? {}) as Any;
  const status = (pod['status'] ?? {}) as Any;
  add('serviceaccounts', spec['serviceAccountName']);
  for (const secret of list(spec['imagePullSecrets'])) add('secrets', secret['name']);
  for (const container of ['initContainers', 'containers', 'ephemeralContainers'].flatMap((field) => list(spec[field]))) {
    for (const source of list(container['envFrom'])) {
      add('configmaps', source['configMapRef']?.['name']);
      add('secrets', source['secretRef']?.['name']);
    }
    for (const variable of list(container['env'])) {
      add('configmaps', variable['valueFrom']?.['configMapKeyRef']?.['name']);
      add('secrets', variable['valueFrom']?.['secretKeyRef']?.['name']);
    }
  }
  for (const volume of list(spec['volumes'])) {
    for (const secret of secretsOfVolume(volume)) add('secrets', secret);
    add('configmaps', volume['configMap']?.['name']);
    for (const source of list(volume['projected']?.['sources'])) {
      add('configmaps', source['configMap']?.['name']);
      add('secrets', source['secret']?.['name']);
    }
    add('persistentvolumeclaims', volume['persistentVolumeClaim']?.['claimName']);
    if (volume['ephemeral']) add('persistentvolumeclaims', `${podName}-${text(volume['name'])}`);
  }
  for (const claim of list(spec['resourceClaims'])) {
    const allocated = list(status['resourceClaimStatuses']).find((one) => text(one['name']) === text(claim['name']));
    add('resourceclaims', claim['resourceClaimName'] ?? allocated?.['resourceClaimName']);
  }
  add('resourceclaims', status['extendedResourceClaimStatus']?.['resourceClaimName']);
  return keys;
}

function secretsOfVolume(volume: Any): unknown[] {
  return [
    volume['secret']?.['secretName'],
    volume['azureFile']?.['secretName'],
    volume['csi']?.['nodePublishSecretRef']?.['name'],
    ...['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'].map((type) => volume[type]?.['secretRef']?.['name']),
  ];
}

/**
 * Returns the claim of a bound volume and the secrets that kubelets need for it; undefined if it is not bound. Upstream:
 * pkg/api/v1/persistentvolume/util.go.
 */
export function referencesOfVolume(volume: KubeObject): { readonly claim: ObjectKey; readonly secrets: readonly ObjectKey[] } | undefined {
  const spec = (volume['spec'] ?? {}) as Any;
  const claim = spec['claimRef'];
  if (!claim) return undefined;
  const namespace = text(claim['namespace']);
  const references: (Any | undefined)[] = [
    ...['cephfs', 'cinder', 'flexVolume', 'rbd', 'scaleIO', 'iscsi', 'storageos'].map((type) => spec[type]?.['secretRef']),
    ...['nodePublishSecretRef', 'nodeStageSecretRef', 'nodeExpandSecretRef'].map((field) => spec['csi']?.[field]),
  ];
  const secrets = references
    .filter((one) => one !== undefined)
    .map((one) => objectKey('secrets', text(one['namespace']) || namespace, text(one['name'])));
  const azure = spec['azureFile'];
  if (azure) secrets.push(objectKey('secrets', text(azure['secretNamespace']) || namespace, text(azure['secretName'])));
  return { claim: objectKey('persistentvolumeclaims', namespace, text(claim['name'])), secrets };
}
