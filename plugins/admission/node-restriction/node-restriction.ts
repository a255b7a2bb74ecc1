import {
  AdmissionPlugin,
  type Attributes,
  Authorizer,
  FeatureGates,
  forbidden,
  type Informer,
  Informers,
  inject,
  type KubeObject,
  newNotFound,
  quote,
} from 'kubenest/sdk';
import type { CertificateSigningRequest, Node, PersistentVolumeClaim, ResourceSlice } from 'kubenest/kinds';
import type { TokenRequest } from 'kubenest/types/authentication_v1';
import type { PodCertificateRequest } from 'kubenest/types/certificates_v1beta1';
import { type CertificateRequest, parsePemCertificateRequest, semanticDeepEqual } from '#sdk/internal';
import type { Pod } from '../../common/pod-walker.ts';
import { apiReferenceOf } from './api-references.ts';
import { nodeNameOf } from './node-identity.ts';
import { forbiddenLabels } from './node-labels.ts';
import { TokenAudiences } from './token-audience.ts';

const mirrorAnnotation = 'kubernetes.io/config.mirror';
const leaseNamespace = 'kube-node-lease';
const nodeSigners = ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'];
const anyChange = { subresources: ['*'], operations: ['CREATE', 'UPDATE', 'DELETE'] } as const;

type Admit = (nodeName: string, request: Attributes) => void | Promise<void>;

/**
 * Restricts kubelets to their own Node and Lease, to the pods on their node, and to the tokens of these pods. Upstream:
 * kubernetes/plugin/pkg/admission/noderestriction/admission.go.
 */
@AdmissionPlugin({
  name: 'NodeRestriction',
  // Every write: a node user without a name may write nothing.
  match: [{ groups: ['*'], resources: ['*'], ...anyChange }],
})
export class NodeRestriction {
  readonly #pods: Informer<Pod>;
  readonly #nodes: Informer<Node>;
  readonly #accounts: Informer;
  readonly #audiences: TokenAudiences;
  /** By `resource.group`. */
  readonly #byResource: ReadonlyMap<string, Admit>;

  constructor(
    @inject(Informers) informers: Informers,
    @inject(Authorizer) private readonly authorizer: Authorizer,
    @inject(FeatureGates) private readonly features: FeatureGates,
  ) {
    this.#pods = informers.for({ group: '', resource: 'pods' });
    this.#nodes = informers.for({ group: '', resource: 'nodes' });
    this.#accounts = informers.for({ group: '', resource: 'serviceaccounts' });
    this.#audiences = new TokenAudiences(informers);
    this.#byResource = new Map<string, Admit>([
      ['pods', this.#admitPod],
      ['nodes', admitNode],
      ['persistentvolumeclaims', admitClaim],
      ['serviceaccounts', this.#admitServiceAccount],
      ['podcertificaterequests.certificates.k8s.io', this.#admitPodCertificateRequest],
      ['leases.coordination.k8s.io', admitLease],
      ['csinodes.storage.k8s.io', admitCSINode],
      ['resourceslices.resource.k8s.io', admitResourceSlice],
      ['certificatesigningrequests.certificates.k8s.io', this.#admitSigningRequest],
    ]);
  }

  admit(request: Attributes): void | Promise<void> {
    const nodeName = nodeNameOf(request.user);
    if (nodeName === undefined) return;
    if (nodeName === '') throw forbidden(request, `could not determine node from user ${quote(request.user.name)}`);
    const { group, resource } = request.resource;
    return this.#byResource.get(group === '' ? resource : `${resource}.${group}`)?.(nodeName, request);
  }

  readonly #admitPod: Admit = (nodeName, request) => {
    const { subresource, operation } = request;
    if (subresource === 'status') return admitPodStatus(nodeName, request);
    if (subresource === 'eviction') return this.#admitEviction(nodeName, request);
    if (subresource !== '')
      throw forbidden(request, `unexpected pod subresource ${quote(subresource)}, only 'status' and 'eviction' are allowed`);
    if (operation === 'CREATE') return this.#admitMirrorPod(nodeName, request);
    if (operation !== 'DELETE')
      throw forbidden(request, `unexpected operation ${quote(operation)}, node ${quote(nodeName)} can only create and delete mirror pods`);
    if (this.#podNamed(request.namespace, request.name).spec.nodeName !== nodeName)
      throw forbidden(request, `node ${quote(nodeName)} can only delete pods with spec.nodeName set to itself`);
  };

  #admitMirrorPod(nodeName: string, request: Attributes): void {
    const pod = request.object as Pod;
    const node = quote(nodeName);
    const deny = (text: string): never => {
      throw forbidden(request, text);
    };
    if (pod.metadata.annotations?.[mirrorAnnotation] === undefined)
      deny(`pod does not have ${quote(mirrorAnnotation)} annotation, node ${node} can only create mirror pods`);
    if (pod.spec.nodeName !== nodeName) deny(`node ${node} can only create pods with spec.nodeName set to itself`);
    const owners = pod.metadata.ownerReferences ?? [];
    if (owners.length > 1) deny(`node ${node} can only create pods with a single owner reference set to itself`);
    const [owner] = owners;
    if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== nodeName)
      return deny(`node ${node} can only create pods with an owner reference set to itself`);
    if (!owner.controller) deny(`node ${node} can only create pods with a controller owner reference set to itself`);
    if (owner.blockOwnerDeletion) deny(`node ${node} must not set blockOwnerDeletion on an owner reference`);
    const { uid } = this.#nodeNamed(nodeName).metadata;
    if (owner.uid !== uid) deny(`node ${nodeName} UID mismatch: expected ${owner.uid} got ${uid}`);
    let reference: string | undefined;
    try {
      reference = apiReferenceOf(pod);
    } catch (error) {
      deny(`error checking mirror pod for API references: ${(error as Error).message}`);
    }
    if (reference !== undefined) deny(`node ${node} can not create pods that reference ${reference}`);
  }

  #admitEviction(nodeName: string, request: Attributes): void {
    if (request.operation !== 'CREATE') throw forbidden(request, `unexpected operation ${request.operation}`);
    const name = request.name || (request.object.metadata.name ?? '');
    if (name === '') throw forbidden(request, 'could not determine pod from request data');
    if (this.#podNamed(request.namespace, name).spec.nodeName !== nodeName)
      throw forbidden(request, `node ${nodeName} can only evict pods with spec.nodeName set to itself`);
  }

  #nodeNamed(name: string): Node {
    const node = this.#nodes.get('', name);
    if (!node) throw newNotFound({ group: '', resource: 'node' }, name);
    return node;
  }

  /** Returns a pod. Throws NotFound with the resource name that upstream's caches use. */
  #podNamed(namespace: string, name: string): Pod {
    const pod = this.#pods.get(namespace, name);
    if (!pod) throw newNotFound({ group: '', resource: 'pod' }, name);
    return pod;
  }

  #accountNamed(namespace: string, name: string): KubeObject {
    const account = this.#accounts.get(namespace, name);
    if (!account) throw newNotFound({ group: '', resource: 'serviceaccount' }, name);
    return account;
  }

  readonly #admitServiceAccount: Admit = async (nodeName, request) => {
    if (request.operation !== 'CREATE' || request.subresource !== 'token') return;
    const ref = (request.object as TokenRequest).spec?.boundObjectRef;
    if (ref?.apiVersion !== 'v1' || ref.kind !== 'Pod' || !ref.name) throw forbidden(request, 'node requested token not bound to a pod');
    if (!ref.uid) throw forbidden(request, 'node requested token with a pod binding without a uid');
    const pod = this.#podNamed(request.namespace, ref.name);
    if (ref.uid !== pod.metadata.uid) {
      throw forbidden(
        request,
        `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
      );
    }
    if (pod.spec.nodeName !== nodeName) throw forbidden(request, 'node requested token bound to a pod scheduled on a different node');
    if (this.features.enabled('ServiceAccountNodeAudienceRestriction')) await this.#checkAudience(request, pod);
  };

  async #checkAudience(request: Attributes, pod: Pod): Promise<void> {
    const { audiences = [] } = (request.object as TokenRequest).spec ?? {};
    if (audiences.length > 1) throw forbidden(request, 'node may only request 0 or 1 audiences');
    const audience = audiences[0] ?? '';
    try {
      if (this.#audiences.isNeeded(pod, audience)) return;
    } catch (error) {
      throw forbidden(request, `error validating audience ${quote(audience)}: ${(error as Error).message}`);
    }
    const { decision } = await this.authorizer.authorize({
      user: request.user,
      verb: 'request-serviceaccounts-token-audience',
      isResourceRequest: true,
      apiGroup: '',
      apiVersion: 'v1',
      resource: audience,
      subresource: '',
      namespace: request.namespace,
      name: request.name,
      path: '',
    });
    if (decision === 'Allow') return;
    throw forbidden(
      request,
      `audience ${quote(audience)} not found in pod spec volume, ${request.user.name} is not authorized to request tokens for this audience`,
    );
  }

  readonly #admitPodCertificateRequest: Admit = (nodeName, request) => {
    const deny = (text: string): never => {
      throw forbidden(request, text);
    };
    if (!this.features.enabled('PodCertificateRequest')) deny('PodCertificateRequest feature gate is disabled');
    if (request.operation !== 'CREATE') deny(`unexpected operation ${request.operation}`);
    if (request.subresource !== '') deny(`unexpected subresource ${request.subresource}`);
    const { spec = {} } = request.object as PodCertificateRequest;
    if (spec.nodeName !== nodeName)
      deny(`PodCertificateRequest.Spec.NodeName=${quote(spec.nodeName ?? '')}, which is not the requesting node ${quote(nodeName)}`);
    const podName = quote(`${request.namespace}/${spec.podName ?? ''}`);
    const node = retrieved(`node ${quote(nodeName)}`, () => this.#nodeNamed(nodeName));
    const nodeUid = node.metadata.uid ?? '';
    if (nodeUid !== spec.nodeUID)
      throw new Error(
        `PodCertificateRequest for pod ${podName} names node UID ${quote(spec.nodeUID ?? '')}, inconsistent with the running node (${quote(nodeUid)})`,
      );
    const pod = retrieved(`pod ${podName}`, () => this.#podNamed(request.namespace, spec.podName ?? ''));
    if (pod.metadata.uid !== spec.podUID)
      throw new Error(
        `PodCertificateRequest for pod ${podName} contains pod UID (${quote(spec.podUID ?? '')}) which differs from running pod ${quote(pod.metadata.uid ?? '')}`,
      );
    if (pod.spec.nodeName !== nodeName) deny(`pod ${podName} is not running on node ${quote(nodeName)} named in the PodCertificateRequest`);
    if (pod.metadata.annotations?.[mirrorAnnotation] !== undefined) deny(`pod ${podName} is a mirror pod`);
    const account = pod.spec.serviceAccountName ?? '';
    if (spec.serviceAccountName !== account)
      deny(
        `PodCertificateRequest for pod ${podName} contains serviceAccountName (${quote(spec.serviceAccountName ?? '')}) that differs from running pod (${quote(account)})`,
      );
    const found = retrieved(`service account ${quote(`${request.namespace}/${account}`)}`, () =>
      this.#accountNamed(request.namespace, account),
    );
    if (found.metadata.uid !== spec.serviceAccountUID)
      throw new Error(
        `PodCertificateRequest for pod ${podName} names service account UID ${quote(spec.serviceAccountUID ?? '')}, which differs from the running service account (${quote(found.metadata.uid ?? '')})`,
      );
  };

  readonly #admitSigningRequest: Admit = (nodeName, request) => {
    const { spec } = (request.object ?? {}) as CertificateSigningRequest;
    if (request.operation !== 'CREATE' || !nodeSigners.includes(spec?.signerName ?? '')) return;
    if (this.features.enabled('AllowInsecureKubeletCertificateSigningRequests')) return;
    let requested: CertificateRequest;
    try {
      requested = parsePemCertificateRequest(spec?.request ?? '');
    } catch (error) {
      throw forbidden(request, `unable to parse csr: ${(error as Error).message}`);
    }
    if (requested.subject.commonName !== `system:node:${nodeName}`)
      throw forbidden(request, `can only create a node CSR with CN=system:node:${nodeName}`);
  };
}

/**
 * Looks up an object named in a PodCertificateRequest. If the cache has not received it, the error is retriable, not a
 * denial.
 */
function retrieved<T>(what: string, get: () => T): T {
  try {
    return get();
  } catch (error) {
    throw new Error(`while retrieving ${what} named in the PodCertificateRequest: ${(error as Error).message}`);
  }
}

function admitPodStatus(nodeName: string, request: Attributes): void {
  if (request.operation !== 'UPDATE') throw forbidden(request, `unexpected operation ${quote(request.operation)}`);
  const old = request.oldObject as Pod;
  const node = quote(nodeName);
  if (old.spec.nodeName !== nodeName)
    throw forbidden(request, `node ${node} can only update pod status for pods with spec.nodeName set to itself`);
  if (!semanticDeepEqual(old.metadata.labels, request.object.metadata.labels))
    throw forbidden(request, `node ${node} cannot update labels through pod status`);
  const before = old.status;
  const now = (request.object as Pod).status;
  if (!semanticDeepEqual(before?.resourceClaimStatuses, now?.resourceClaimStatuses))
    throw forbidden(request, `node ${node} cannot update resource claim statues`);
  if (!semanticDeepEqual(before?.extendedResourceClaimStatus, now?.extendedResourceClaimStatus))
    throw forbidden(request, `node ${node} cannot update extended resource claim status`);
}

function admitNode(nodeName: string, request: Attributes): void {
  const node = quote(nodeName);
  if (request.name !== nodeName) throw forbidden(request, `node ${node} is not allowed to modify node ${quote(request.name)}`);
  if (request.operation === 'DELETE') return;
  const { spec, metadata } = request.object as Node;
  const old = request.oldObject as Node | undefined;
  if (!old) {
    if (spec?.configSource) throw forbidden(request, `node ${node} is not allowed to create pods with a non-nil configSource`);
    const labels = forbiddenLabels(metadata.labels);
    if (labels.length > 0) throw forbidden(request, `node ${node} is not allowed to set the following labels: ${labels.join(', ')}`);
    return;
  }
  if (spec?.configSource && !semanticDeepEqual(spec.configSource, old.spec?.configSource))
    throw forbidden(request, `node ${node} is not allowed to update configSource to a new non-nil configSource`);
  if (!semanticDeepEqual(spec?.taints, old.spec?.taints)) throw forbidden(request, `node ${node} is not allowed to modify taints`);
  if (!semanticDeepEqual(metadata.ownerReferences, old.metadata.ownerReferences))
    throw forbidden(request, `node ${node} is not allowed to modify ownerReferences`);
  const labels = forbiddenLabels(metadata.labels, old.metadata.labels);
  if (labels.length > 0) throw forbidden(request, `is not allowed to modify labels: ${labels.join(', ')}`);
}

function admitClaim(nodeName: string, request: Attributes): void {
  if (request.subresource !== 'status') throw forbidden(request, 'may only update PVC status');
  if (request.operation !== 'UPDATE') throw forbidden(request, `unexpected operation ${quote(request.operation)}`);
  const now = withoutNodesFields(request.object as PersistentVolumeClaim);
  const before = withoutNodesFields(request.oldObject as PersistentVolumeClaim);
  const changed = [...new Set([...Object.keys(now), ...Object.keys(before)])].filter((name) => !semanticDeepEqual(now[name], before[name]));
  if (changed.length === 0) return;
  throw forbidden(
    request,
    `node ${quote(nodeName)} is not allowed to update fields other than status.quantity and status.conditions: ${changed.join(', ')}`,
  );
}

/** Returns a claim without the fields that nodes may change and those that change automatically. */
function withoutNodesFields({ metadata, status, ...rest }: PersistentVolumeClaim): Record<string, unknown> {
  const { resourceVersion: _, managedFields: __, ...meta } = metadata;
  const {
    capacity: ___,
    conditions: ____,
    allocatedResourceStatuses: _____,
    allocatedResources: ______,
    ...kept
  } = (status ?? {}) as Record<string, unknown>;
  return { ...rest, metadata: meta, status: kept };
}

function nameOf({ operation, object, name }: Attributes): string {
  return operation === 'CREATE' ? (object.metadata.name ?? '') : name;
}

function admitLease(nodeName: string, request: Attributes): void {
  if (request.namespace !== leaseNamespace)
    throw forbidden(request, `can only access leases in the ${quote(leaseNamespace)} system namespace`);
  if (nameOf(request) !== nodeName) throw forbidden(request, 'can only access node lease with the same name as the requesting node');
}

function admitCSINode(nodeName: string, request: Attributes): void {
  if (nameOf(request) !== nodeName) throw forbidden(request, 'can only access CSINode with the same name as the requesting node');
}

function admitResourceSlice(nodeName: string, request: Attributes): void {
  if (request.operation === 'UPDATE') return;
  const [slice, verb] = request.operation === 'CREATE' ? [request.object, 'create'] : [request.oldObject, 'delete'];
  if ((slice as ResourceSlice).spec?.nodeName !== nodeName)
    throw forbidden(request, `can only ${verb} ResourceSlice with the same NodeName as the requesting node`);
}
