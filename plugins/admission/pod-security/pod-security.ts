import {
  AdmissionPlugin,
  type Attributes,
  Client,
  Configuration,
  deepEqual,
  type FieldError,
  type Informer,
  Informers,
  inject,
  type KubeObject,
  Metrics,
  newForbidden,
  newInternalError,
  newInvalid,
  quote,
  type VerdictRecorder,
} from 'kubenest/sdk';
import { aggregateFieldErrors } from '#sdk/internal';
import type { Container, Pod } from '../../common/pod-walker.ts';
import type { CheckedPod } from '../../common/pod-security/check.ts';
import { defaultPolicyOf, PodSecurityConfiguration } from './configuration.ts';
import { detailsText, violationsOf } from './evaluator.ts';
import {
  annotationOf,
  compareLevels,
  isEquivalent,
  isFullyPrivileged,
  type LevelVersion,
  levelVersionText,
  type Mode,
  type Policy,
  policyOf,
} from './level.ts';
import { exemptNamespaceWarning, warningsAboutPods } from './namespace-check.ts';
import { PodSecurityMetrics } from './pod-security-metrics.ts';

/** Policy in verdicts of the plugin. */
const policyName = 'PodSecurity';

interface Namespaced {
  readonly policy: Policy;
  readonly errors: readonly FieldError[];
}

/**
 * Enforces the Pod Security Standards level of a namespace's labels on pods, and warns about pod templates. Upstream:
 * pod-security-admission/admission/admission.go, kubernetes/plugin/pkg/admission/security/podsecurity/admission.go.
 */
@AdmissionPlugin({
  name: 'PodSecurity',
  configuration: PodSecurityConfiguration,
  match: [
    { groups: [''], resources: ['pods'], subresources: ['', 'ephemeralcontainers', 'resize'], operations: ['CREATE', 'UPDATE'] },
    { groups: [''], resources: ['namespaces', 'replicationcontrollers', 'podtemplates'], operations: ['CREATE', 'UPDATE'] },
    { groups: ['apps'], resources: ['replicasets', 'deployments', 'statefulsets', 'daemonsets'], operations: ['CREATE', 'UPDATE'] },
    { groups: ['batch'], resources: ['jobs', 'cronjobs'], operations: ['CREATE', 'UPDATE'] },
  ],
})
export class PodSecurity {
  readonly #namespaces: Informer;
  readonly #client: Client;
  readonly #defaults: Policy;
  readonly #exemptions: Readonly<Record<'namespaces' | 'usernames' | 'runtimeClasses', ReadonlySet<string>>>;
  readonly #metrics: PodSecurityMetrics;
  /** Parsed labels by namespace object. */
  readonly #policies = new WeakMap<KubeObject, Namespaced>();

  constructor(
    @inject(Informers) informers: Informers,
    @inject(Client) client: Client,
    @inject(Metrics) metrics: Metrics,
    @inject(Configuration) configuration: PodSecurityConfiguration,
  ) {
    this.#namespaces = informers.for({ group: '', resource: 'namespaces' });
    this.#client = client;
    this.#metrics = new PodSecurityMetrics(metrics);
    this.#defaults = defaultPolicyOf(configuration);
    const { namespaces, usernames, runtimeClasses } = configuration.exemptions;
    this.#exemptions = { namespaces: new Set(namespaces), usernames: new Set(usernames), runtimeClasses: new Set(runtimeClasses) };
  }

  validate(request: Attributes): void | Promise<void> {
    if (request.resource.resource === 'namespaces') return this.#validateNamespace(request);
    const exempt = this.#exemptions.namespaces.has(request.namespace)
      ? 'namespace'
      : this.#exemptions.usernames.has(request.user.name)
        ? 'user'
        : undefined;
    if (exempt) return this.#exempt(request, exempt);
    if (request.resource.resource === 'pods') this.#validatePod(request);
    else this.#validateController(request);
  }

  #exempt(request: Attributes, reason: string): void {
    if (request.verdicts) return request.verdicts.record({ policy: policyName, result: 'skip', message: `the ${reason} is exempt` });
    this.#metrics.exemption(request);
    request.addAnnotation(annotationOf('exempt'), reason);
  }

  #validateNamespace(request: Attributes): void | Promise<void> {
    const { object, oldObject } = request;
    const name = object.metadata.name ?? '';
    const { policy, errors } = policyOf(object.metadata.labels, this.#defaults);
    const old = oldObject && policyOf(oldObject.metadata.labels, this.#defaults);
    const wereErrors = old !== undefined && old.errors.length > 0 && deepEqual(old.errors.map(String), errors.map(String));
    if (errors.length > 0 && !wereErrors) throw newInvalid(request.kind, request.name, errors);
    const isExempt = this.#exemptions.namespaces.has(request.namespace);
    if (!old) {
      if (isExempt) this.#warnOfExemption(request, name, policy);
      return;
    }
    const { enforce } = policy;
    const before = old.policy.enforce;
    const isSame = enforce.level === before.level && enforce.version === before.version;
    const isRelaxed = enforce.version === before.version && compareLevels(enforce.level, before.level) < 1;
    if (isSame || isRelaxed || enforce.level === 'privileged') return;
    if (isExempt) return this.#warnOfExemption(request, name, policy);
    return this.#warnAboutPods(request, name, enforce);
  }

  /** Reads the pods from the store: an informer may lack those that were just created, which upstream's check then misses. */
  async #warnAboutPods(request: Attributes, namespace: string, enforce: LevelVersion): Promise<void> {
    const pods = await this.#client.list<Pod>({ group: '', version: 'v1', resource: 'pods' }, namespace);
    const checked = pods.filter(({ spec }) => !this.#isExemptRuntimeClass(spec));
    for (const warning of await warningsAboutPods(namespace, checked, enforce)) request.addWarning(warning);
  }

  #warnOfExemption(request: Attributes, name: string, policy: Policy): void {
    if (isFullyPrivileged(policy) || isEquivalent(policy, this.#defaults)) return;
    request.addWarning(exemptNamespaceWarning(name, policy, request.object.metadata.labels ?? {}));
  }

  #validatePod(request: Attributes): void {
    const found = this.#policyFor(request);
    if (!found) {
      if (!request.verdicts) this.#metrics.error(true, request);
      const error = newInternalError(`failed to lookup namespace ${quote(request.namespace)}`);
      request.addAnnotation(annotationOf('error'), `${error.message}: namespaces ${quote(request.namespace)} not found`);
      throw error;
    }
    if (found.errors.length === 0 && isFullyPrivileged(found.policy)) {
      if (request.verdicts) return;
      this.#metrics.evaluation('allow', found.policy.enforce, 'enforce', request);
      return request.addAnnotation(annotationOf('enforce-policy'), 'privileged:latest');
    }
    const pod = request.object as Pod;
    if (request.oldObject && !isSignificantUpdate(pod, request.oldObject as Pod)) return;
    this.#evaluate(request, found, pod, true);
  }

  #validateController(request: Attributes): void {
    const found = this.#policyFor(request);
    if (!found) {
      if (request.verdicts) return;
      this.#metrics.error(true, request);
      const { namespace } = request;
      return request.addAnnotation(
        annotationOf('error'),
        `failed to lookup namespace ${quote(namespace)}: namespaces ${quote(namespace)} not found`,
      );
    }
    const { policy, errors } = found;
    if (errors.length === 0 && policy.warn.level === 'privileged' && policy.audit.level === 'privileged') return;
    const template = templateOf(request.object);
    if (template) this.#evaluate(request, found, template, false);
  }

  #policyFor({ namespace }: Attributes): Namespaced | undefined {
    const object = this.#namespaces.get('', namespace);
    if (!object) return undefined;
    let found = this.#policies.get(object);
    if (!found) {
      found = policyOf(object.metadata.labels, this.#defaults);
      this.#policies.set(object, found);
    }
    return found;
  }

  #isExemptRuntimeClass({ runtimeClassName }: CheckedPod['spec']): boolean {
    return runtimeClassName !== undefined && this.#exemptions.runtimeClasses.has(runtimeClassName);
  }

  #evaluate(request: Attributes, { policy, errors }: Namespaced, pod: CheckedPod, enforces: boolean): void {
    if (this.#isExemptRuntimeClass(pod.spec)) return this.#exempt(request, 'runtimeClass');
    if (request.verdicts) return recordLevels(request.verdicts, policy, pod, enforces);
    if (errors.length > 0) {
      request.addAnnotation(annotationOf('error'), `Failed to parse policy: ${aggregateFieldErrors(errors)}`);
      this.#metrics.error(false, request);
    }
    let denied = '';
    if (enforces) {
      request.addAnnotation(annotationOf('enforce-policy'), levelVersionText(policy.enforce));
      denied = problemsText(policy.enforce, pod);
      this.#metrics.evaluation(denied ? 'deny' : 'allow', policy.enforce, 'enforce', request);
    }
    const audited = problemsText(policy.audit, pod);
    if (audited) {
      request.addAnnotation(annotationOf('audit-violations'), `would violate ${audited}`);
      this.#metrics.evaluation('deny', policy.audit, 'audit', request);
    }
    if (denied) throw newForbidden(request.resource, request.name, `violates ${denied}`);
    const warned = problemsText(policy.warn, pod);
    if (warned) {
      request.addWarning(`would violate ${warned}`);
      this.#metrics.evaluation('deny', policy.warn, 'warn', request);
    }
  }
}

/** Records the verdict of each level above privileged. `enforce` applies to pods only; equal levels of other modes are then left out. */
function recordLevels(verdicts: VerdictRecorder, policy: Policy, pod: CheckedPod, enforces: boolean): void {
  const modes: readonly Mode[] = enforces ? ['enforce', 'warn', 'audit'] : ['warn', 'audit'];
  for (const mode of modes) {
    if (policy[mode].level === 'privileged') continue;
    if (enforces && mode !== 'enforce' && deepEqual(policy[mode], policy.enforce)) continue;
    const problems = problemsText(policy[mode], pod);
    if (problems === '') verdicts.record({ policy: policyName, rule: mode, result: 'pass' });
    else verdicts.record({ policy: policyName, rule: mode, result: mode === 'enforce' ? 'fail' : 'warn', message: `violates ${problems}` });
  }
}

/** Returns the violations as text; empty for a compliant pod. */
function problemsText(levelVersion: LevelVersion, pod: CheckedPod): string {
  const violations = violationsOf(levelVersion, pod);
  return violations.length === 0 ? '' : `PodSecurity ${quote(levelVersionText(levelVersion))}: ${detailsText(violations)}`;
}

/** True if an update can change the verdict on a pod: other images or more containers. */
function isSignificantUpdate({ spec }: Pod, { spec: old }: Pod): boolean {
  const differ = (now: readonly Container[] = [], before: readonly Container[] = []): boolean =>
    now.length !== before.length || now.some(({ image }, at) => image !== before[at]?.image);
  if (differ(spec.containers, old.containers) || differ(spec.initContainers, old.initContainers)) return true;
  const before = new Map(old.ephemeralContainers?.map(({ name, image }) => [name, image]));
  return (spec.ephemeralContainers ?? []).some(({ name, image }) => !before.has(name) || before.get(name) !== image);
}

/** The part that the kinds with a pod template have in common; objects may not be validated yet. */
interface WithTemplate extends KubeObject {
  readonly template?: Partial<CheckedPod>;
  readonly spec?: {
    readonly template?: Partial<CheckedPod>;
    readonly jobTemplate?: { readonly spec?: { readonly template?: Partial<CheckedPod> } };
  };
}

function templateOf(object: KubeObject): CheckedPod | undefined {
  const { kind, template, spec } = object as WithTemplate;
  const found = kind === 'PodTemplate' ? template : kind === 'CronJob' ? spec?.jobTemplate?.spec?.template : spec?.template;
  return found && { metadata: found.metadata ?? {}, spec: found.spec ?? {} };
}
