import type { APIService } from '#kube-aggregator/schema/apiregistration_v1.gen';

/** Defaults the service port of an APIService. Upstream: kube-aggregator/pkg/apis/apiregistration/v1/defaults.go. */
export function defaultApiService({ spec }: APIService): void {
  if (spec?.service !== undefined) spec.service.port ??= 443;
}
