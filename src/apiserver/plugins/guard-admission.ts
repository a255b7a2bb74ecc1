import { newInternalError } from '#apimachinery/api/errors';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import type { AdmissionHandler, Attributes } from '#apiserver/admission/attributes';
import { BoundaryError, type CallEffects, PluginBoundary } from '#apiserver/admission/plugin-boundary';
import { stepScope } from '#apiserver/admission/step-selection';
import { type PluginOrigin, type RunPlugin, runnerOf } from './plugin-origin.ts';
import { type PluginFailures, type PluginName, pluginSubject, reasonOf } from './plugin-failures.ts';
import type { PolicyControl } from './policy/policy-control.ts';
import type { PolicyMode } from './policy/policy-configuration.ts';
import type { Usage } from './plugin-usage.ts';
import { errorOf } from './error-of.ts';
import { denialOf } from './thrown.ts';
import { TimeoutError, within } from './within.ts';

/** Handling of requests for which a plugin fails: it throws anything but a denial, breaks a rule of the boundary, or times out. */
export interface PluginGuard {
  readonly timeoutMs: number;
  /** Timeout of a module's import and of a post-start hook. */
  readonly startTimeoutMs: number;
  /** Fail: the client gets an InternalError. Ignore: the plugin is skipped. */
  readonly failurePolicy: 'Fail' | 'Ignore';
}

export const defaultGuard: PluginGuard = { timeoutMs: 10_000, startTimeoutMs: 60_000, failurePolicy: 'Fail' };

type PhaseName = 'admit' | 'validate';

/** Parts of a guard that only some plugins have. */
export interface AdmissionGuardParts {
  readonly origin?: PluginOrigin | undefined;
  /** Undefined: every denial denies its request. */
  readonly policy?: PolicyControl | undefined;
  /** Counts and measures the calls. */
  readonly usage?: Usage | undefined;
}

/** One call of a plugin. */
interface GuardedCall {
  readonly phase: PhaseName;
  readonly mode: PolicyMode;
  readonly original: Attributes;
  readonly boundary: PluginBoundary;
}

const effectsOf: Readonly<Record<PolicyMode, CallEffects>> = {
  enforce: { changes: 'applied', warnings: 'added' },
  warn: { changes: 'dropped', warnings: 'added' },
  audit: { changes: 'dropped', warnings: 'dropped' },
};

/**
 * Isolates a plugin of a package, so that its failures affect only the request. Changes of a failed call are dropped. The name of the
 * package is part of errors, logs and metrics.
 */
export function guardAdmission(
  plugin: AdmissionHandler,
  guard: PluginGuard,
  failures: PluginFailures,
  parts: AdmissionGuardParts = {},
): AdmissionHandler {
  const guarded = new GuardedAdmission(plugin, guard, failures, parts);
  // The prototype carries the metadata of the class's decorators.
  return Object.assign(Object.create(plugin) as AdmissionHandler, {
    [stepScope]: parts.policy?.stepScope,
    ...(plugin.admit && { admit: (request: Attributes) => guarded.call('admit', request) }),
    ...(plugin.validate && { validate: (request: Attributes) => guarded.call('validate', request) }),
  });
}

class GuardedAdmission {
  readonly #name: PluginName;
  readonly #runPlugin: RunPlugin;
  readonly #policy: PolicyControl | undefined;
  readonly #usage: Usage | undefined;

  constructor(
    private readonly plugin: AdmissionHandler,
    private readonly guard: PluginGuard,
    private readonly failures: PluginFailures,
    { origin, policy, usage }: AdmissionGuardParts,
  ) {
    this.#name = { sort: 'admission plugin', name: admissionPluginOptions(plugin).name, package: origin?.package };
    this.#runPlugin = runnerOf(origin);
    this.#policy = policy;
    this.#usage = usage;
  }

  /** Calls a phase of the plugin. Returns a promise only if the plugin does, or for large objects. */
  call(phase: PhaseName, original: Attributes): void | Promise<void> {
    const mode = this.#policy ? this.#policy.modeFor(original, phase) : 'enforce';
    if (mode === undefined) return;
    return this.#usage ? this.#measured(this.#usage, phase, original, mode) : this.#call(phase, original, mode);
  }

  /** Like `usage.measure`, without a function for each call. */
  #measured(usage: Usage, phase: PhaseName, original: Attributes, mode: PolicyMode): void | Promise<void> {
    const began = performance.now();
    let pending: void | Promise<void>;
    try {
      pending = this.#call(phase, original, mode);
    } catch (error) {
      usage.ended(began);
      throw error;
    }
    if (pending) return pending.finally(() => usage.ended(began));
    usage.ended(began);
  }

  #call(phase: PhaseName, original: Attributes, mode: PolicyMode, isShared = phase === 'validate'): void | Promise<void> {
    const call = { phase, mode, original, boundary: new PluginBoundary(original, phase, effectsOf[mode], isShared) };
    const prepared = call.boundary.prepare();
    return prepared ? prepared.then(() => this.#run(call)) : this.#run(call);
  }

  #run(call: GuardedCall): void | Promise<void> {
    const { phase, boundary } = call;
    try {
      const returned: unknown = this.#runPlugin(() => this.plugin[phase]?.(boundary.request));
      if (isPromise(returned)) return this.#settled(returned, call);
      const settled = boundary.settle(returned);
      return settled?.catch((error: unknown) => this.#failed(call, error));
    } catch (error) {
      return this.#failed(call, error);
    }
  }

  async #settled(returned: PromiseLike<unknown>, call: GuardedCall): Promise<void> {
    try {
      const settled = call.boundary.settle(await within(returned, this.guard.timeoutMs));
      if (settled) await settled;
    } catch (error) {
      await this.#failed(call, error);
    }
  }

  /**
   * In mode `enforce`, throws the denial of the plugin, or with `Fail` an InternalError that names the plugin. Repeats a call that may have
   * failed because of shared copies.
   */
  #failed({ original: request, phase, mode, boundary }: GuardedCall, thrown: unknown): void | Promise<void> {
    // A getter of the plugin's object may throw anything, too.
    const error = errorOf(thrown);
    if (boundary.mayNeedOwnCopies(error)) return this.#call(phase, request, mode, false);
    const denial = denialOf(error);
    if (denial) {
      if (mode === 'enforce') throw denial;
      return this.#policy?.violated(request, { phase, mode }, denial);
    }
    const reason = error instanceof BoundaryError ? error.rule : reasonOf(error);
    const { operation, resource, namespace, name } = request;
    this.failures.record(this.#name, reason, error, { operation, resource: resource.resource, namespace, name });
    const predicate = predicateOf(error);
    const message = `${pluginSubject(this.#name)} ${predicate}`;
    if (this.guard.failurePolicy === 'Ignore') {
      request.verdicts?.record({ policy: this.#name.name, result: 'error', message });
      request.trace?.note({ kind: 'failure', name: this.#name.name, verdict: 'ignored', reason: message });
      return;
    }
    if (mode === 'enforce') throw newInternalError(new Error(message));
    this.#policy?.report(request, mode, predicate);
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | undefined)?.then === 'function';
}

/** Completes a sentence about the plugin. Other errors may contain what clients must not see, so only the log has them. */
function predicateOf(error: unknown): string {
  if (error instanceof BoundaryError) return error.message;
  return error instanceof TimeoutError ? `gave ${error.message}` : 'failed';
}
