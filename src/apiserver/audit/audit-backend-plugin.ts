import { type ContributionOptions, describes } from '#apiserver/base/contribution';

/**
 * Marks a class as an AuditBackend of a package. It gets the events that `--audit-policy-file` asks for, in batches, off the
 * way of the requests; the events of a batch that it does not take are lost, and counted.
 */
export function AuditBackendPlugin(options: ContributionOptions): ClassDecorator {
  return describes('AuditBackendPlugin', options);
}
