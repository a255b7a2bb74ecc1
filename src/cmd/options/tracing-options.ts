import { Flag } from './flag.ts';

/** Export of request spans. Upstream: apiserver/pkg/server/options/tracing.go. */
export class TracingOptions {
  /** Path of a file of kind TracingConfiguration. */
  @Flag('tracing-config-file')
  tracingConfigFile = '';
}
