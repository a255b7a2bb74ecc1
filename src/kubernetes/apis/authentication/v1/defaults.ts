import type { TokenRequest } from '#kubernetes/schema/authentication_v1.gen';

/** Defaults the lifetime of a token request to an hour. Upstream: pkg/apis/authentication/v1/defaults.go. */
export function defaultTokenRequest(request: TokenRequest): void {
  (request.spec ??= {}).expirationSeconds ??= 3600;
}
