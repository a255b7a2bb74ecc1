import {
  AdmissionPlugin,
  type Attributes,
  Authorizer,
  deepCopy,
  type FieldError,
  forbidden,
  groupNames,
  type Informer,
  Informers,
  inject,
  type StatusError,
  type UserInfo,
} from 'kubenest/sdk';
import { replaceObject, semanticDeepEqual } from '#sdk/internal';
import type { Pod } from '../../common/pod-walker.ts';
import { mutatePod } from './mutate.ts';
import { isComplete, type Policy } from './policy.ts';
import { validatePod } from './validate.ts';

const validatedAnnotation = 'kubernetes.io/psp';
const auditPrefix = 'podsecuritypolicy.policy.k8s.io/';

/** The policy that allows a pod and the mutated pod, or the errors of all policies. */
type Verdict = { readonly policy: string; readonly pod: Pod } | { readonly policy?: undefined; readonly errors: readonly FieldError[] };

/**
 * Requires pods to satisfy a PodSecurityPolicy that the user or the service account may `use`. Among the policies that allow
 * a new pod, the first by name that does not mutate it applies, or else the first that mutates it:
 *
 * | request | a policy allows the pod unchanged | only with changes | none     |
 * | ------- | --------------------------------- | ----------------- | -------- |
 * | CREATE  | admitted                          | changed, admitted | denied   |
 * | UPDATE  | admitted                          | denied            | denied   |
 *
 * Updates of only owner references and finalizers are admitted, and subresources are not checked. Upstream until 1.25:
 * kubernetes/plugin/pkg/admission/security/podsecuritypolicy/admission.go.
 */
@AdmissionPlugin({ name: 'PodSecurityPolicy', match: [{ groups: [''], resources: ['pods'], operations: ['CREATE', 'UPDATE'] }] })
export class PodSecurityPolicy {
  readonly #policies: Informer<Policy>;

  constructor(
    @inject(Informers) informers: Informers,
    @inject(Authorizer) private readonly authorizer: Authorizer,
  ) {
    this.#policies = informers.for({ group: 'policy', resource: 'podsecuritypolicies' });
  }

  async admit(request: Attributes<Pod>): Promise<void> {
    if (request.operation !== 'CREATE') return;
    const verdict = await this.#verdict(request, 'mutable');
    if (verdict.policy === undefined) throw denied(request, `unable to admit pod: [${verdict.errors.join(' ')}]`);
    const { metadata } = verdict.pod;
    (metadata.annotations ??= {})[validatedAnnotation] = verdict.policy;
    replaceObject(request.object, verdict.pod);
    request.addAnnotation(`${auditPrefix}admit-policy`, verdict.policy);
  }

  async validate(request: Attributes<Pod>): Promise<void> {
    if (isOnlyMutatingGCFields(request)) return;
    const verdict = await this.#verdict(request, 'fixed');
    if (verdict.policy === undefined) throw denied(request, `unable to validate pod: [${verdict.errors.join(' ')}]`);
    request.addAnnotation(`${auditPrefix}validate-policy`, verdict.policy);
  }

  async #verdict(request: Attributes<Pod>, form: 'mutable' | 'fixed'): Promise<Verdict> {
    const original = request.object;
    const hint = form === 'fixed' ? original.metadata.annotations?.[validatedAnnotation] : undefined;
    const policies = sorted(this.#policies.list().filter(isComplete), hint);
    if (policies.length === 0) throw denied(request, 'no providers available to validate pod request');
    const failures: { readonly name: string; readonly errors: readonly FieldError[] }[] = [];
    let changed: Extract<Verdict, { policy: string }> | undefined;
    for (const policy of policies) {
      const name = nameOf(policy);
      const pod = deepCopy(original);
      mutatePod(pod, policy);
      const errors = validatePod(pod, policy);
      if (errors.length > 0) {
        failures.push({ name, errors });
        continue;
      }
      const isChanged = !semanticDeepEqual(original, pod);
      if (isChanged && (form === 'fixed' || changed)) continue;
      if (!(await this.#mayUse(request, name))) continue;
      if (!isChanged) return { policy: name, pod };
      changed = { policy: name, pod };
    }
    return changed ?? { errors: await this.#visibleErrors(request, failures) };
  }

  /** Returns only the errors of policies that the user may use. */
  async #visibleErrors(
    request: Attributes<Pod>,
    failures: readonly { readonly name: string; readonly errors: readonly FieldError[] }[],
  ): Promise<FieldError[]> {
    const visible: FieldError[] = [];
    for (const { name, errors } of failures) {
      if (!(await this.#mayUse(request, name))) continue;
      for (const error of errors) visible.push(error);
    }
    return visible;
  }

  async #mayUse({ user, namespace, object }: Attributes<Pod>, name: string): Promise<boolean> {
    const { serviceAccountName } = object.spec;
    const users = serviceAccountName ? [serviceAccount(namespace, serviceAccountName), user] : [user];
    for (const one of users) {
      // Older RBAC rules use the group extensions.
      for (const apiGroup of ['policy', 'extensions']) {
        const resource = { apiGroup, apiVersion: '*', resource: 'podsecuritypolicies', subresource: '', namespace, name };
        const { decision } = await this.authorizer.authorize({ ...resource, user: one, verb: 'use', isResourceRequest: true, path: '' });
        if (decision === 'Allow') return true;
      }
    }
    return false;
  }
}

function denied(request: Attributes, message: string): StatusError {
  return forbidden(request, `PodSecurityPolicy: ${message}`);
}

function nameOf({ metadata }: Policy): string {
  return metadata.name ?? '';
}

/** Sorts policies by name, with the policy that previously allowed the pod first. */
function sorted(policies: readonly Policy[], hint: string | undefined): Policy[] {
  const rank = (policy: Policy): number => (nameOf(policy) === hint ? 0 : 1);
  return policies.toSorted((a, b) => rank(a) - rank(b) || (nameOf(a) < nameOf(b) ? -1 : 1));
}

function serviceAccount(namespace: string, name: string): UserInfo {
  const all = groupNames.serviceAccounts;
  return { name: `system:serviceaccount:${namespace}:${name}`, groups: [all, `${all}:${namespace}`] };
}

/** True if an update changes only fields used by garbage collection, which a user who can update and delete the pod may set. */
function isOnlyMutatingGCFields({ object, oldObject }: Attributes): boolean {
  if (!oldObject) return false;
  const { ownerReferences, finalizers, selfLink, managedFields } = oldObject.metadata as Record<string, unknown>;
  return semanticDeepEqual(
    { ...object, metadata: { ...object.metadata, ownerReferences, finalizers, selfLink, managedFields } },
    oldObject,
  );
}
