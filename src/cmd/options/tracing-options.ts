import { Flag } from './flag.ts';

/** Where spans of requests go. Upstream: apiserver/pkg/server/options/tracing.go. */
export class TracingOptions {
  /** A file of kind TracingConfiguration. */
  @Flag('tracing-config-file')
  tracingConfigFile = '';
}
