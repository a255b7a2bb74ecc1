import type { Attributes, CounterMetric, Metrics } from 'kubenest/sdk';
import { type LevelVersion, type Mode, versionText } from './level.ts';

/** Minor version of the API; newer policy versions count as future. */
const apiMinor = 36;

/** Metrics of pod security. Upstream: pod-security-admission/metrics. */
export class PodSecurityMetrics {
  readonly #evaluations: CounterMetric;
  readonly #exemptions: CounterMetric;
  readonly #errors: CounterMetric;

  constructor(metrics: Metrics) {
    this.#evaluations = metrics.counter({
      name: 'pod_security_evaluations_total',
      help: 'Number of policy evaluations that occurred, not counting ignored or exempt requests.',
      labels: ['decision', 'policy_level', 'policy_version', 'mode', 'request_operation', 'resource', 'subresource'],
    });
    this.#exemptions = metrics.counter({
      name: 'pod_security_exemptions_total',
      help: 'Number of exempt requests, not counting ignored or out of scope requests.',
      labels: ['request_operation', 'resource', 'subresource'],
    });
    this.#errors = metrics.counter({
      name: 'pod_security_errors_total',
      help: 'Number of errors preventing normal evaluation. Non-fatal errors may result in the latest restricted profile being used for evaluation.',
      labels: ['fatal', 'request_operation', 'resource', 'subresource'],
    });
    this.#beginUsual();
  }

  /** Initializes the usual series. Upstream: populateCache. */
  #beginUsual(): void {
    for (const request_operation of ['create', 'update']) {
      const pod = { request_operation, resource: 'pod', subresource: '' };
      this.#evaluations.inc({ decision: 'allow', policy_level: 'privileged', policy_version: 'latest', mode: 'enforce', ...pod }, 0);
      this.#exemptions.inc(pod, 0);
      this.#exemptions.inc({ ...pod, resource: 'controller' }, 0);
    }
  }

  evaluation(decision: 'allow' | 'deny', { level, version }: LevelVersion, mode: Mode, request: Attributes): void {
    const policyVersion =
      level === 'privileged' ? 'latest' : version > apiMinor && Number.isFinite(version) ? 'future' : versionText(version);
    this.#evaluations.inc({ decision, policy_level: level, policy_version: policyVersion, mode, ...labelsOf(request) });
  }

  exemption(request: Attributes): void {
    this.#exemptions.inc(labelsOf(request));
  }

  error(fatal: boolean, request: Attributes): void {
    this.#errors.inc({ fatal: String(fatal), ...labelsOf(request) });
  }
}

function labelsOf({ operation, resource: { resource }, subresource }: Attributes): Record<string, string> {
  return {
    request_operation: operation.toLowerCase(),
    resource: resource === 'pods' ? 'pod' : resource === 'namespaces' ? 'namespace' : 'controller',
    subresource,
  };
}
