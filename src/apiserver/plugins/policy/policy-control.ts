import type { Container } from 'inversify';
import type { StatusError } from '#apimachinery/api/errors';
import type { Attributes } from '#apiserver/admission/attributes';
import { forbidden } from '#apiserver/admission/forbidden';
import type { StepScope } from '#apiserver/admission/step-selection';
import type { CostBudget } from '#apiserver/admission/cel/match-conditions';
import { Clock } from '#apiserver/base/clock';
import { Logger } from '#apiserver/base/logger';
import { type CounterMetric, Metrics } from '#apiserver/base/metrics/metrics';
import { Informers } from '#apiserver/registry/informers';
import { type PluginFailures, type PluginName, pluginSubject } from '../plugin-failures.ts';
import type { ExceptionObjects } from './exception-objects.ts';
import type { PluginPolicy } from './plugin-policy.ts';
import type { PolicyException } from './policy-exception.ts';
import type { PolicyMode } from './policy-configuration.ts';

type PhaseName = 'admit' | 'validate';

const none: readonly PolicyException[] = [];

/**
 * Cost of all expressions of exceptions for a request in one phase, in the units of upstream's cost limits, where one expression may cost
 * four times as much. Users of a namespace may create exceptions, and their number is not limited.
 */
const expressionBudget = 250_000;

/** The key is the request of one phase. */
const budgets = new WeakMap<Attributes, CostBudget>();

function budgetOf(request: Attributes): CostBudget {
  let budget = budgets.get(request);
  if (!budget) budgets.set(request, (budget = { remaining: expressionBudget }));
  return budget;
}

/** Prefix of the audit annotation of a denial in mode `audit`; the name of the plugin follows. */
const annotationPrefix = 'plugins.kubenest.dev/';

/** Services for the policies of plugins. */
export interface PolicyServices {
  readonly informers: Informers;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly failures: PluginFailures;
  /** Exceptions that are API objects; undefined if they are not served. */
  readonly exceptionObjects: ExceptionObjects | undefined;
}

export function policyServices(services: Container, failures: PluginFailures, exceptionObjects?: ExceptionObjects): PolicyServices {
  return {
    informers: services.get<Informers>(Informers),
    clock: services.get<Clock>(Clock),
    logger: services.get<Logger>(Logger),
    metrics: services.get<Metrics>(Metrics),
    failures,
    exceptionObjects,
  };
}

/** Returns the test of a policy's scope. It follows namespaces, unless the policy has no scope. */
export function scopeTest({ scope }: PluginPolicy, informers: Informers): (request: Attributes) => boolean {
  if (!scope) return () => true;
  const namespaces = informers.for({ group: '', resource: 'namespaces' });
  return (request) => scope.includes(request, namespaces);
}

/** Returns the scope of a policy in the form in which the chain of plugins evaluates it; undefined if it includes every request. */
function stepScope({ scope }: PluginPolicy, informers: Informers): StepScope | undefined {
  if (!scope) return undefined;
  const namespaces = informers.for({ group: '', resource: 'namespaces' });
  return {
    dependsOnUser: scope.dependsOnUser,
    dependsOnLabels: scope.dependsOnLabels,
    decidingNamespace: (request) => scope.decidingNamespace(request, namespaces),
    mayInclude: (request, namespace) => scope.mayInclude(request, namespace),
    includesObjects: (request) => scope.includesObjects(request),
  };
}

/** Applies the policy of one plugin to requests, and counts, traces and reports the results. */
export class PolicyControl {
  readonly #violations: CounterMetric;
  readonly #exceptions: CounterMetric;
  readonly #reportedExpiries = new WeakSet<PolicyException>();
  readonly #reportedFailures = new WeakSet<PolicyException>();
  readonly #labels: { readonly package: string; readonly plugin: string };
  /** Returns true if the policy's scope includes a request. */
  readonly #includes: (request: Attributes) => boolean;
  /** The scope; undefined: every request. */
  readonly stepScope: StepScope | undefined;

  constructor(
    private readonly policy: PluginPolicy,
    private readonly plugin: PluginName,
    private readonly services: PolicyServices,
  ) {
    const { metrics, informers } = services;
    this.#includes = scopeTest(policy, informers);
    this.stepScope = stepScope(policy, informers);
    this.#labels = { package: plugin.package ?? '', plugin: plugin.name };
    this.#violations = metrics.counter({
      name: 'kubenest_plugin_violations_total',
      help: "Number of requests that packages' admission plugins would have denied in mode enforce, by package, plugin, mode (warn or audit) and type (admit or validate).",
      labels: ['package', 'plugin', 'mode', 'type'],
    });
    this.#exceptions = metrics.counter({
      name: 'kubenest_plugin_exceptions_total',
      help: "Number of calls of packages' admission plugins that an exception replaced, by package, plugin, reason of the exception (the kind for an exception that is an API object) and type (admit or validate).",
      labels: ['package', 'plugin', 'reason', 'type'],
    });
  }

  /** Returns the mode for a request; undefined if the plugin must not be called. */
  modeFor(request: Attributes, phase: PhaseName): PolicyMode | undefined {
    const { exceptions, mode } = this.policy;
    const { name } = this.plugin;
    if (!this.#includes(request)) {
      request.verdicts?.recordNone();
      request.trace?.note({ kind: 'scope', name, verdict: 'skipped' });
      return undefined;
    }
    const exception = this.#found(exceptions, request) ?? this.#found(this.services.exceptionObjects?.of(name) ?? none, request);
    if (!exception) return mode;
    const { label, source } = exception;
    const reason = label === undefined ? exception.reason : `${exception.reason} (${label})`;
    if (request.verdicts) {
      request.verdicts.record({ policy: name, result: 'skip', message: reason });
      return undefined;
    }
    if (!request.dryRun) exception.uses += 1;
    // The number of objects, and so of their reasons, is not limited; their statuses have the counts of each.
    this.#exceptions.inc({ ...this.#labels, reason: source?.kind ?? exception.reason, type: phase });
    request.trace?.note({ kind: 'exception', name, verdict: 'skipped', reason });
    return undefined;
  }

  #found(exceptions: readonly PolicyException[], request: Attributes): PolicyException | undefined {
    return exceptions.length === 0 ? undefined : exceptions.find((candidate) => this.#applies(candidate, request));
  }

  #applies(exception: PolicyException, request: Attributes): boolean {
    const { clock, failures } = this.services;
    if (exception.expires !== undefined && clock.wallTime() >= exception.expires) {
      this.#reportExpiry(exception);
      if (request.trace && exception.selects(request))
        this.#note(request, exception, 'expired', `since ${new Date(exception.expires).toISOString()}`);
      return false;
    }
    const budget = budgetOf(request);
    // Nothing is left for an expression: the exceptions before this one have used it up, and reported that.
    if (exception.hasExpression && budget.remaining === 0) return false;
    const covers = exception.covers(request, budget);
    if (!(covers instanceof Error)) return covers;
    this.#note(request, exception, 'failed', covers.message);
    // Each is reported once: the author of an exception decides how often its expression fails.
    if (this.#reportedFailures.has(exception)) return false;
    this.#reportedFailures.add(exception);
    failures.record(this.plugin, 'exception', covers, { exception: exception.label ?? exception.reason });
    return false;
  }

  /** Adds to a trace why an exception does not apply. */
  #note({ trace }: Attributes, { reason, label }: PolicyException, verdict: string, why: string): void {
    trace?.note({
      kind: 'exception',
      name: this.plugin.name,
      verdict,
      reason: `${reason}${label === undefined ? '' : ` (${label})`}: ${why}`,
    });
  }

  #reportExpiry(exception: PolicyException): void {
    if (this.#reportedExpiries.has(exception)) return;
    this.#reportedExpiries.add(exception);
    const expired = new Date(exception.expires as number).toISOString();
    const { reason, label } = exception;
    this.services.logger.warn({ ...this.#labels, reason, exception: label, expired }, 'an exception of an admission plugin has expired');
  }

  /** Counts a denial in mode `warn` or `audit`, and reports it. */
  violated(
    request: Attributes,
    { phase, mode }: { readonly phase: PhaseName; readonly mode: 'warn' | 'audit' },
    denial: StatusError,
  ): void {
    if (!request.verdicts) this.#violations.inc({ ...this.#labels, mode, type: phase });
    // A request that is admitted is not forbidden.
    const reason = denial.message.replace(forbidden(request, '').message, '');
    this.report(request, mode, `would deny: ${reason}`);
  }

  /** Reports what would have denied the request in mode `enforce`. `predicate` continues a sentence about the plugin. */
  report(request: Attributes, mode: 'warn' | 'audit', predicate: string): void {
    const { name } = this.plugin;
    if (request.verdicts) return request.verdicts.record({ policy: name, rule: mode, result: 'warn', message: predicate });
    request.trace?.note({ kind: 'mode', name, verdict: mode === 'warn' ? 'warned' : 'audited', reason: predicate });
    if (mode === 'warn') request.addWarning(`${pluginSubject(this.plugin)} ${predicate}`);
    else request.addAnnotation(`${annotationPrefix}${name}`, predicate);
  }
}
