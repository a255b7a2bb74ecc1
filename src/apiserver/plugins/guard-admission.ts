import { newInternalError, StatusError } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { deepCopy } from '#apimachinery/runtime/copy';
import { admissionPluginOptions } from '#apiserver/admission/admission-plugin';
import type { AdmissionHandler, Attributes } from '#apiserver/admission/attributes';
import { replaceObject } from '#apiserver/admission/replace-object';
import type { Logger } from '#apiserver/base/logger';
import type { Metrics } from '#apiserver/base/metrics/metrics';
import { TimeoutError, within } from './within.ts';

/** What becomes of a request when a plugin cannot say: it throws something that is no StatusError, or takes too long. */
export interface PluginGuard {
  readonly timeoutMs: number;
  /** Fail: the client gets an InternalError. Ignore: as if the plugin had not been asked. */
  readonly failurePolicy: 'Fail' | 'Ignore';
}

export const defaultGuard: PluginGuard = { timeoutMs: 10_000, failurePolicy: 'Fail' };

type Phase = (request: Attributes) => void | Promise<void>;

/**
 * A plugin of a package, so that what is wrong with it harms only the request. One that is ignored when it fails works on a
 * copy of the object, which replaces the object if it succeeds: nothing half done is stored.
 */
export function guardAdmission(
  plugin: AdmissionHandler,
  guard: PluginGuard,
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Metrics },
): AdmissionHandler {
  const { name } = admissionPluginOptions(plugin);
  const failures = metrics.counter({
    name: 'kubenest_admission_plugin_failures_total',
    help: 'Requests for which a plugin of a package gave no verdict, by plugin and reason (error, timeout).',
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
  // The prototype keeps what the class was decorated with.
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
