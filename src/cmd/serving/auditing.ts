import { type AuditMetrics, CountedBackend } from '#apiserver/audit/audit-metrics';
import type { AuditBackend } from '#apiserver/audit/event';
import { BatchingBackend } from '#apiserver/audit/batching-backend';
import { EventsOfTurn } from '#apiserver/audit/events-of-turn';
import { PolicyEvaluator } from '#apiserver/audit/policy';
import { TruncatingBackend } from '#apiserver/audit/truncating-backend';
import { UnionBackend } from '#apiserver/audit/union-backend';
import type { Auditing } from '#apiserver/endpoints/filters/audit';
import type { Dial } from '#apiserver/network/egress-selector/egress-selector';
import { GuardedAuditBackend } from '#apiserver/plugins/guard-audit';
import type { Container } from 'inversify';
import type { Logger } from '#apiserver/base/logger';
import { JsonClient } from '#apiserver/network/webhook/json-client';
import type { Contribution } from '#apiserver/plugins/contribute';
import { contributionOf } from '#apiserver/plugins/loaded-contribution';
import type { BuiltIns } from '#cmd/modules/built-ins';
import type { Contributions } from '#cmd/modules/contributions';
import type { AuditConfig, AuditDelivery } from '#cmd/server-config';

/** Audit policy with its backends; undefined without a policy or a backend. */
export type ConfiguredAuditing = Auditing | undefined;
export const ConfiguredAuditing = Symbol('ConfiguredAuditing');

const webhookTimeoutMs = 30_000;

/** Delivery of events to the backends of packages. */
const contributedDelivery: AuditDelivery = {
  mode: 'batch',
  batch: { bufferSize: 10_000, maxBatchSize: 400, maxWaitMs: 1_000, throttle: undefined },
  truncate: undefined,
};

interface AuditingParts {
  readonly logger: Logger;
  readonly metrics: AuditMetrics;
  /** Creates a built-in backend by name with its configuration. */
  newBackend(name: string, configuration: object): AuditBackend;
  /** Dials the connections to the webhook. */
  readonly dial: Dial | undefined;
  /** Backends of packages. */
  readonly contributed: readonly AuditBackend[];
}

/** Returns the policy and its backends; undefined without a backend. Throws if the log cannot be opened. */
function newAuditing({ policy, log, webhook }: AuditConfig, parts: AuditingParts): Auditing | undefined {
  const { logger, metrics, dial, contributed, newBackend } = parts;
  const backends = contributed.map((backend) => delivering(backend, contributedDelivery, metrics));
  const awaitsFirst =
    (log && log.delivery.mode !== 'batch' && !isForgiving(log.delivery)) || (webhook && webhook.delivery.mode !== 'batch');
  if (log) backends.push(delivering(newBackend('log', log), log.delivery, metrics));
  if (webhook) {
    const client = new JsonClient(webhook.connection, { timeoutMs: webhookTimeoutMs, retryMs: webhook.initialBackoffMs, dial });
    backends.push(delivering(newBackend('webhook', client), webhook.delivery, metrics));
  }
  if (backends.length === 0) return undefined;
  const backend = backends.length === 1 ? (backends[0] as AuditBackend) : new UnionBackend(backends);
  const unsent = (err: unknown): void => logger.error({ err }, 'cannot send a response');
  // Batched events do not delay their requests.
  const ofTurn = log && isForgiving(log.delivery) ? new EventsOfTurn(backend, unsent) : undefined;
  return { metrics, awaitsFirst: awaitsFirst ?? false, policy: new PolicyEvaluator(policy), backend: ofTurn ?? backend, ofTurn };
}

/** Returns the auditing with the backends of packages. Throws if a package has a backend but no policy is configured. */
export function newContributedAuditing(
  config: AuditConfig | undefined,
  contributions: Contributions,
  services: Container,
  builtIns: BuiltIns,
  parts: Omit<AuditingParts, 'contributed' | 'newBackend'>,
): Auditing | undefined {
  const [first] = contributions.of('AuditBackendPlugin');
  if (!config) {
    if (first) throw new Error(`plugin ${first.described.options.name}: nothing is audited without --audit-policy-file`);
    return undefined;
  }
  const own = builtIns.of('AuditBackendPlugin');
  return newAuditing(config, {
    ...parts,
    contributed: contributions.make<AuditBackend>(
      'AuditBackendPlugin',
      services,
      (made, contribution, failures) => new GuardedAuditBackend(made, contribution, failures),
    ),
    newBackend: (name, configuration) => contributionOf(own.get(name) as Contribution, configuration).make(services) as AuditBackend,
  });
}

/** True if a backend processes events at once and its failures do not affect the audited requests. */
function isForgiving({ mode, truncate }: AuditDelivery): boolean {
  return mode === 'blocking' && truncate === undefined;
}

/** Adds delivery to a backend. Truncation applies last, after batching. Only `blocking-strict` rejects requests whose events are lost. */
function delivering(backend: AuditBackend, { mode, batch, truncate }: AuditDelivery, metrics: AuditMetrics): AuditBackend {
  const counted = new CountedBackend(backend, backend.name, metrics);
  const truncated = truncate ? new TruncatingBackend(counted, truncate) : counted;
  if (mode === 'batch') return new CountedBackend(new BatchingBackend(truncated, batch), 'buffered', metrics);
  return mode === 'blocking-strict' ? truncated : new ForgivingBackend(truncated);
}

/** Waits for the backend, and ignores its errors. Upstream: audit options (ignoreErrorsBackend). */
class ForgivingBackend implements AuditBackend {
  readonly name: string;

  constructor(private readonly backend: AuditBackend) {
    this.name = `ignoreErrors<${backend.name}>`;
  }

  process(...args: Parameters<AuditBackend['process']>): boolean | Promise<boolean> {
    const answer = this.backend.process(...args);
    return typeof answer === 'boolean' ? true : answer.then(() => true);
  }

  shutDown(): Promise<void> {
    return this.backend.shutDown();
  }
}
