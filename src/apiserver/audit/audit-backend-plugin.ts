import { type ContributionOptions, describes, type PluginClass } from '#apiserver/base/contribution';
import type { AuditBackend } from './event.ts';

/**
 * Declares a class as an AuditBackend of a package. It receives the events selected by `--audit-policy-file` in batches,
 * asynchronously to requests. Events of a batch that it does not accept are lost and counted.
 */
export function AuditBackendPlugin(options: ContributionOptions): (type: PluginClass<Pick<AuditBackend, 'process'>>) => void {
  return describes('AuditBackendPlugin', options);
}
