import { type ContributionOptions, describes } from '#apiserver/base/contribution';

/**
 * Declares a class as an AuditBackend of a package. It receives the events selected by `--audit-policy-file` in batches,
 * asynchronously to requests. Events of a batch that it does not accept are lost and counted.
 */
export function AuditBackendPlugin(options: ContributionOptions): ClassDecorator {
  return describes('AuditBackendPlugin', options);
}
