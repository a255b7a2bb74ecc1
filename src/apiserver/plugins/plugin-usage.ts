import { QuantileWindow } from '#apiserver/base/metrics/quantile-window';
import type { ContributionKind } from '#apiserver/base/contribution';

/** Quantiles cover the calls of the last ten minutes. */
const windowMs = 600_000;
const windowAges = 5;

/** Calls and failures of one contribution since the start. */
export class Usage {
  calls = 0;
  failures = 0;
  #durations: QuantileWindow | undefined;

  /** Runs a call and measures it until it, or its promise, ends. */
  measure<T>(call: () => T): T {
    const began = performance.now();
    let result: T | undefined;
    try {
      result = call();
    } finally {
      if (!(result instanceof Promise)) this.ended(began);
    }
    return result instanceof Promise ? (result.finally(() => this.ended(began)) as T) : (result as T);
  }

  /** Returns a quantile of the durations in milliseconds; undefined without recent calls. */
  milliseconds(quantile: number): number | undefined {
    const value = this.#durations?.quantile(quantile, performance.now());
    return value === undefined || Number.isNaN(value) ? undefined : Math.round(value * 1e6) / 1e3;
  }

  /** Counts a call that began at this time of `performance.now` and ends now. */
  ended(began: number): void {
    const now = performance.now();
    this.calls += 1;
    this.#durations ??= new QuantileWindow(windowMs, windowAges, now);
    this.#durations.observe((now - began) / 1_000, now);
  }
}

/** Usage of all contributions of packages. */
export class PluginUsage {
  readonly #byPlugin = new Map<string, Usage>();

  of(plugin: { readonly package?: string | undefined; readonly name: string }): Usage {
    const key = `${plugin.package ?? ''}\n${plugin.name}`;
    let usage = this.#byPlugin.get(key);
    if (!usage) this.#byPlugin.set(key, (usage = new Usage()));
    return usage;
  }
}

/** Kinds of contributions whose calls are measured, with the methods that count as calls. */
export const measuredMethods: Partial<Record<ContributionKind, readonly string[]>> = {
  AdmissionPlugin: ['admit', 'validate'],
  AuthenticatorPlugin: ['authenticate'],
  AuthorizerPlugin: ['authorize'],
  AuditBackendPlugin: ['process'],
  PostStartHookPlugin: ['run'],
};

/** Measures the calls of a guarded contribution. The guards of admission plugins measure theirs, because a policy may replace a call. */
export function measureCalls(made: object, kind: ContributionKind, usage: Usage): void {
  const members = made as Record<string, unknown>;
  for (const name of measuredMethods[kind] ?? []) {
    const method = members[name];
    if (typeof method === 'function')
      members[name] = (...args: unknown[]): unknown => usage.measure(() => Reflect.apply(method, made, args));
  }
}
