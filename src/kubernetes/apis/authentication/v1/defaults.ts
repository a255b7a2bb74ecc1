import type { TokenRequest } from '#kubernetes/schema/authentication_v1.gen';

/** Upstream: pkg/apis/authentication/v1/defaults.go. */
export function defaultTokenRequest(request: TokenRequest): void {
  (request.spec ??= {}).expirationSeconds ??= 3600;
}
