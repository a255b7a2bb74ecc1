import { newInternalError, StatusError } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { deepCopy } from '#apimachinery/runtime/copy';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import type { AdmissionHandler, Attributes } from '#apiserver/admission/attributes';
import { replaceObject } from '#apiserver/admission/replace-object';
import type { Logger } from '#apiserver/base/logger';
import type { Metrics } from '#apiserver/base/metrics/metrics';
import { TimeoutError, within } from './within.ts';

/** Handling of requests for which a plugin fails: it throws anything but a StatusError, or times out. */
export interface PluginGuard {
  readonly timeoutMs: number;
  /** Fail: the client gets an InternalError. Ignore: the plugin is skipped. */
  readonly failurePolicy: 'Fail' | 'Ignore';
}

export const defaultGuard: PluginGuard = { timeoutMs: 10_000, failurePolicy: 'Fail' };

type Phase = (request: Attributes) => void | Promise<void>;

/**
 * Isolates a plugin of a package, so that its failures affect only the request. With `Ignore`, the plugin works on a copy of
 * the object, which replaces the object only on success.
 */
export function guardAdmission(
  plugin: AdmissionHandler,
  guard: PluginGuard,
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
): AdmissionHandler {
  const { name } = admissionPluginOptions(plugin);
  const failures = metrics.counter({
    name: 'kubenest_admission_plugin_failures_total',
    help: "Number of requests for which a package's plugin failed, by plugin and reason (error, timeout).",
    labels: ['plugin', 'reason'],
  });

  const failed = (request: Attributes, error: unknown): void => {
    if (error instanceof StatusError) throw error;
    const reason = error instanceof TimeoutError ? 'timeout' : 'error';
    failures.inc({ plugin: name, reason });
    const { operation, resource, namespace, name: object } = request;
    logger.error({ plugin: name, operation, resource: resource.resource, namespace, name: object, err: error }, 'admission plugin failed');
    if (guard.failurePolicy === 'Fail')
      throw newInternalError(new Error(`admission plugin ${JSON.stringify(name)} ${messageOf(reason, guard)}`));
  };

  const guarded = (phase: Phase, changes: boolean): Phase => {
    const copies = changes && guard.failurePolicy === 'Ignore';
    return (original) => {
      const { request, commit } = copies ? onCopy(original) : { request: original, commit: nothing };
      try {
        const result = phase(request);
        if (result === undefined) return commit();
        return within(result, guard.timeoutMs).then(commit, (error: unknown) => failed(original, error));
      } catch (error) {
        return failed(original, error);
      }
    };
  };
  // The prototype carries the metadata of the class's decorators.
  return Object.assign(Object.create(plugin) as AdmissionHandler, {
    ...(plugin.admit && { admit: guarded((request) => plugin.admit?.(request), true) }),
    ...(plugin.validate && { validate: guarded((request) => plugin.validate?.(request), false) }),
  });
}

const nothing = (): void => {};

function messageOf(reason: 'error' | 'timeout', { timeoutMs }: PluginGuard): string {
  return reason === 'timeout' ? `gave no answer within ${timeoutMs} ms` : 'failed';
}

function onCopy(original: Attributes): { readonly request: Attributes; commit(): void } {
  const object = deepCopy(original.object) as KubeObject | undefined;
  const request: Attributes = {
    ...original,
    object: object as KubeObject,
    get reinvocation() {
      return original.reinvocation;
    },
    addAnnotation: (key, value, level) => original.addAnnotation(key, value, level),
    addWarning: (text) => original.addWarning(text),
  };
  return { request, commit: () => object && replaceObject(original.object, object) };
}
