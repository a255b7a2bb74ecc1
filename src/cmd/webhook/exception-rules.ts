import { newInvalid } from '#apimachinery/api/errors';
import { fieldPath } from '#apimachinery/validation/field';
import { AdmissionPlugin } from '#apiserver/admission/admission-plugin';
import type { Attributes } from '#apiserver/admission/attributes';
import { systemClock } from '#apiserver/base/clock';
import {
  type ExceptionObject,
  exceptionErrors,
  exceptionGroup,
  exceptionKinds,
  exceptionWarnings,
} from '#apiserver/plugins/policy/exception-group';

/** Requests that write exceptions. */
export const exceptionMatch = {
  groups: [exceptionGroup.group],
  resources: exceptionKinds.map(({ resource }) => resource),
  operations: ['CREATE', 'UPDATE'],
} as const;

/** Name of the plugin that checks exceptions. */
export const exceptionRules = 'PolicyExceptions';

/**
 * Denies exceptions that the server's own API of exceptions would refuse and a CustomResourceDefinition cannot. Names of plugins are not
 * limited, because several webhook servers may share the exceptions of a cluster.
 */
@AdmissionPlugin({ name: exceptionRules, match: [exceptionMatch] })
export class ExceptionRules {
  /** `plugins`: names of the admission plugins that can have exceptions. */
  constructor(private readonly plugins: readonly string[]) {}

  validate(request: Attributes<ExceptionObject>): void {
    const { object, kind, name } = request;
    const errors = exceptionErrors(object);
    if (errors.length > 0) throw newInvalid(kind, name, errors);
    for (const warning of exceptionWarnings(object, systemClock.wallTime())) request.addWarning(warning);
    for (const [i, plugin] of object.spec.plugins.entries())
      if (!this.plugins.includes(plugin))
        request.addWarning(
          `${String(fieldPath('spec').child('plugins').index(i))}: this webhook server has no plugin ${JSON.stringify(plugin)} (${this.plugins.join(', ')})`,
        );
  }
}
